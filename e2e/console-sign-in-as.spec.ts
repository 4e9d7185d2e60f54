import { signUp } from "./account.ts";
import { consoleSettings, expectAccessible, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";

test.use({ settings: consoleSettings });

test("an operator signs in as a user, sees who acts, and goes back to the console @next", async ({
  page,
  server,
  account,
  mailbox,
}) => {
  const user = await signUp(server.url, mailbox, `grace.${crypto.randomUUID().slice(0, 8)}@example.com`);
  const base = await openConsole(page, server, account);
  await page.goto(`${base}/users?q=${user.address}`);
  await page.getByRole("table", { name: "Users" }).locator("tbody tr[tabindex]").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: user.address })).toBeVisible();
  const ofUser = page.url();

  await page.getByRole("button", { name: "Sign in as" }).click();
  const dialog = page.getByRole("dialog", { name: `Sign in as ${user.address}?` });
  await expect(dialog.getByRole("button", { name: "Sign in" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("Ticket 4711: sees no invoices");
  await expectAccessible(page);
  const opened = page.waitForEvent("popup");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  const tab = await opened;

  await expect(tab.getByRole("heading", { name: `Sign in as ${user.address}?` })).toBeVisible();
  await expect(tab.getByText("This browser is signed in here already")).toBeVisible();
  await tab.getByRole("button", { name: "Sign in" }).click();
  const banner = tab.getByRole("status").filter({ hasText: "Ticket 4711" });
  await expect(banner).toContainText(account.address);
  await expect(tab.getByRole("heading", { name: "Your account" })).toBeVisible();
  await expect(tab.getByRole("button", { name: /password|Delete account|passkey/i })).toHaveCount(0);
  await expectAccessible(tab);

  await page.goto(`${ofUser}?tab=sessions`);
  await expect(page.getByText(`${account.address} acts as the user`)).toBeVisible();
  await expectAccessible(page);

  await tab.getByRole("button", { name: "End" }).click();
  await expect(tab).toHaveURL(ofUser);
  await expect(tab.getByRole("heading", { level: 1, name: user.address })).toBeVisible();
});

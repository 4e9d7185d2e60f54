import { backdateSignIns, setSessionCookie } from "./account.ts";
import { expect, test } from "./fixtures.ts";
import { button, enterPassword, expectPage, opener, row } from "./steps.ts";

test("a re-authentication before adding an address shows the owner's identifier, not the new address", async ({
  page,
  context,
  server,
  database,
  account,
}) => {
  await setSessionCookie(context, server.url, account);
  await page.goto("/account");
  await expectPage(page, "account");
  await backdateSignIns(database);
  await opener(page, "Add an email address").click();
  await page.getByLabel("Email", { exact: true }).fill("other@example.com");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expectPage(page, "reauthentication");
  await button(page, "Get a code by email").click();
  await expectPage(page, "code");
  await expect(page.locator(".stile-identity strong")).toHaveText(account.address);
  await page.getByRole("button", { name: "Back" }).click();
  await button(page, "Enter your password").click();
  await enterPassword(page, account.password);
  // The address is added without being typed again.
  await expectPage(page, "code");
  await expect(page.locator(".stile-subject")).toHaveText("other@example.com");
});

test("an important change after a while is made after re-authentication", async ({
  page,
  context,
  server,
  database,
  account,
}) => {
  await setSessionCookie(context, server.url, account);
  await page.goto("/account");
  await expectPage(page, "account");
  await backdateSignIns(database);
  await row(page, "Password").locator("summary").filter({ hasText: "Change" }).click();
  await page.getByLabel("New password").fill("nine otters under the bridge");
  await button(page, "Save password").click();
  await expectPage(page, "reauthentication");
  await button(page, "Enter your password").click();
  await enterPassword(page, account.password);
  await expectPage(page, "account");
  await expect(page.getByText("Your password is changed.")).toBeVisible();
});

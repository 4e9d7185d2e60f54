import type { Locator, Page } from "@playwright/test";
import { startReceiver } from "../server/testing/webhook-receiver.ts";
import { button, consoleSettings, field, goTo, inDialog, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";
import { emailField, expectPage } from "./steps.ts";

/** Where the keyboard goes on in the console, and what its lists say of what was done. */

test.use({
  settings: { ...consoleSettings, STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" },
  contextOptions: { reducedMotion: "reduce" },
});

async function press(page: Page, control: Locator): Promise<void> {
  await expect(control).toBeEnabled();
  await control.focus();
  await page.keyboard.press("Enter");
}

/** The content of the page. Its first control is the next stop of the Tab key. */
const content = (page: Page) => page.locator("#content");

test("the keyboard goes on where it was after windows, changes and jumps @next", async ({
  page,
  browser,
  server,
  account,
  pageErrors,
}) => {
  // The first call is made before the sign-in.
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  await openConsole(page, server, account, "operator");
  await expect(page.getByText("No SMS service is set up: sms_delivery.account_sid.")).toBeVisible();

  await test.step("a jump leads to the content of the page", async () => {
    await goTo(page, "Tenants");
    await expect(content(page)).toBeFocused();
  });

  await test.step("a window gives the focus back to its button, closed or saved", async () => {
    const create = button(page, "New tenant");
    await press(page, create);
    await expect(field(page, "Name")).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(create).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(field(page, "Name")).toBeFocused();
    await page.keyboard.type("Acme");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("link", { name: "Acme", exact: true })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(create).toBeFocused();
    await press(page, page.getByRole("link", { name: "Acme", exact: true }));
    await expect(content(page)).toBeFocused();
  });

  await test.step("a saved setting leads to the content of the page, because its bar has gone", async () => {
    await goTo(page, "Settings");
    const recovery = page.getByRole("radiogroup", { name: "password.recovery" }).getByRole("radio");
    await page.getByRole("searchbox", { name: "Search names and meanings" }).fill("password.recovery");
    await recovery.first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await press(page, button(page, "Review and save"));
    await press(page, inDialog(page, "Save"));
    await expect(page.getByText("The settings are saved.")).toBeVisible();
    await expect(content(page)).toBeFocused();
    await page.goto(`${page.url().replace(/[?#].*$/, "")}/history`);
    const rows = page.getByRole("table", { name: "History" }).getByRole("row");
    await expect(rows.nth(1)).toContainText("password.recovery");
    await expect(rows.nth(2)).toContainText("Created");
    const [link] = await rows.nth(1).getByRole("link").all();
    await link?.press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: account.address })).toBeVisible();
  });

  await test.step("a webhook gives the focus back, and its lists say what applies", async () => {
    const receiver = await startReceiver();
    await goTo(page, "Webhooks");
    const create = button(page, "New webhook");
    await press(page, create);
    await expect(field(page, "Address")).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(create).toBeFocused();
    await page.keyboard.press("Enter");
    await field(page, "Address").fill(receiver.url);
    await field(page, "Events").focus();
    await page.keyboard.type("user.create");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await press(page, inDialog(page, "Save"));
    await press(page, button(page, "I have copied it"));
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(create).toBeFocused();
    await press(page, page.getByRole("link", { name: receiver.url }));
    await expect(page.getByText("Failures in a row")).toBeVisible();
    await expect(page.getByText("Expires", { exact: true })).toHaveCount(0);
    const test = button(page, "Send a test event");
    await press(page, test);
    await expect.poll(() => receiver.received.length).toBe(1);
    await expect(test).toBeFocused();
    const deliveries = page.getByRole("table", { name: "Deliveries" });
    await expect(deliveries.getByText("Delivered", { exact: true })).toBeVisible();
    await press(page, button(page, "test"));
    await press(page, inDialog(page, "Deliver again"));
    await expect(deliveries.getByText("Again", { exact: true })).toHaveCount(1);
    await receiver.close();
  });

  await test.step("an unfinished registration leads to no account", async () => {
    const registering = await browser.newPage();
    await registering.goto(`${server.url}/registration`);
    await emailField(registering).fill("unfinished@example.com");
    await registering.keyboard.press("Enter");
    await expectPage(registering, "code");
    await registering.close();
    await goTo(page, "Sign-ins");
    const row = page
      .getByRole("table", { name: "Sign-ins" })
      .getByRole("row")
      .filter({ hasText: "registration" });
    await expect(row.first()).toBeVisible();
    await expect(row.first().getByRole("link")).toHaveCount(1);
  });
});

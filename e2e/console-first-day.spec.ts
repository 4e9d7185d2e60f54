import type { Locator, Page } from "@playwright/test";
import { startReceiver } from "../server/testing/webhook-receiver.ts";
import { button, field, goTo, inDialog } from "./console.ts";
import { expect, test } from "./fixtures.ts";
import { tabTo } from "./keyboard.ts";
import { chooseMethod, codeField, emailField, enterCode, expectPage, newPasswordField } from "./steps.ts";
import { stile } from "./stile.ts";

/** The first day of an operator, by the keyboard alone: from the link that the server prints to a webhook that is repeated. */

test.use({
  contextOptions: { reducedMotion: "reduce" },
  settings: { STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" },
});

async function press(page: Page, control: Locator): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press("Enter");
}

async function type(page: Page, control: Locator, text: string): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(text);
}

test("a new operator runs the service from the printed link on, without a mouse @next", async ({
  page,
  browser,
  server,
  mailbox,
  address,
  authenticator,
  pageErrors,
}) => {
  // The tenant is asked for before it is chosen.
  pageErrors.expect(/favicon\.ico/);
  await authenticator.willConfirm();

  await test.step("becomes the operator by the link", async () => {
    await page.goto(await stile(server, ["console", "link"]));
    await expectPage(page, "login");
    await press(
      page,
      page
        .getByRole("link", { name: "Create an account" })
        .or(page.getByRole("button", { name: "Create an account" })),
    );
    await expectPage(page, "registration");
    const asked = mailbox.messages.length;
    await type(page, emailField(page), address);
    await page.keyboard.press("Enter");
    await expectPage(page, "code");
    await type(page, codeField(page), await mailbox.codeFor(address, asked));
    await expectPage(page, "setPassword");
    await type(page, newPasswordField(page), "seven herons over the lake");
    await page.keyboard.press("Enter");
    await expectPage(page, "createPasskey");
    await press(page, page.getByRole("button", { name: "Create a passkey" }));
    // Offered to new accounts by the settings of this server: the passkey is enough for the console.
    await expectPage(page, "secondStep");
    await press(page, page.getByRole("button", { name: "Not now" }));
    await page.waitForURL(/\/console\/[0-9a-f-]{36}$/);
    await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  });

  await test.step("makes a tenant, and a user who may sign in by codes alone", async () => {
    await goTo(page, "Tenants");
    await press(page, button(page, "New tenant"));
    await expect(field(page, "Name")).toBeFocused();
    await page.keyboard.type("Acme");
    await page.keyboard.press("Enter");
    await press(page, page.getByRole("link", { name: "Acme", exact: true }));
    await expect(page.getByRole("combobox", { name: "Tenant" })).toHaveValue("Acme");
    await goTo(page, "Users");
    await press(page, button(page, "Create a user"));
    await expect(field(page, "Email addresses")).toBeFocused();
    await page.keyboard.type("ada@example.com");
    await tabTo(page, page.getByRole("checkbox", { name: "The addresses are verified" }));
    await page.keyboard.press("Space");
    await press(page, inDialog(page, "Create a user"));
    await expect(page.getByRole("heading", { level: 1, name: "ada@example.com" })).toBeVisible();
  });
  const tenant = /\/console\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? "";

  await test.step("finds the user's failed sign-in by its support number, and reads why", async () => {
    const ada = await browser.newPage();
    await ada.goto(`${server.url}/t/${tenant}/login`);
    await chooseMethod(ada, "ada@example.com", "code");
    await enterCode(ada, "000000");
    await expect(ada.getByText("This is not the code we sent, or it is too old.")).toBeVisible();
    const number = (await ada.locator(".stile-support").innerText()).slice(-9);
    await ada.close();
    await goTo(page, "Sign-ins");
    await type(page, page.getByRole("searchbox", { name: "Support number" }), number);
    await expect(page).toHaveURL(/number=/);
    await press(page, page.getByRole("table", { name: "Sign-ins" }).getByRole("link", { name: number }));
    await expect(page.getByText(/was rejected: “/)).toBeVisible();
  });

  await test.step("learns whom a setting locks out before it is saved", async () => {
    await goTo(page, "Settings");
    await type(page, page.getByRole("searchbox", { name: "Search names and meanings" }), "email.use_for");
    const off = page.getByRole("radiogroup", { name: "email.use_for_authentication" }).getByRole("radio");
    await tabTo(page, off.first());
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await press(page, button(page, "Review and save"));
    await expect(page.getByRole("dialog").getByText(/1 users? can no longer sign in/)).toBeVisible();
    await expect(inDialog(page, "Save")).toBeDisabled();
    await page.keyboard.press("Escape");
    await press(page, button(page, "Discard"));
  });

  await test.step("gives the tenant its look", async () => {
    await goTo(page, "Look");
    // Pasted, because a colour is tried as it is typed: half of one would be rejected if the next key was late.
    await tabTo(page, page.getByLabel("Accent", { exact: true }).first());
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText("#7a1f5b");
    await press(page, button(page, "Review and save"));
    await press(page, inDialog(page, "Save"));
    await expect(page.getByText("The settings are saved.")).toBeVisible();
    const shown = await page.request.get(`${server.url}/t/${tenant}/login`);
    expect(await shown.text()).toContain("#7a1f5b");
  });

  await test.step("makes a webhook, and has an event delivered again", async () => {
    const receiver = await startReceiver();
    await goTo(page, "Webhooks");
    await press(page, button(page, "New webhook"));
    await type(page, field(page, "Address"), receiver.url);
    await tabTo(page, field(page, "Events"));
    await page.keyboard.type("user.create");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await press(page, inDialog(page, "Save"));
    await press(page, button(page, "I have copied it"));
    await press(page, page.getByRole("link", { name: receiver.url }));
    await press(page, button(page, "Send a test event"));
    await expect.poll(() => receiver.received.length).toBe(1);
    await page.reload();
    await press(page, button(page, "test"));
    await press(page, inDialog(page, "Deliver again"));
    await expect(page.getByText("The event is delivered again.")).toBeVisible();
    await expect.poll(() => receiver.received.length).toBe(2);
    await receiver.close();
  });
});

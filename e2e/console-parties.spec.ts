import { setTimeout } from "node:timers/promises";
import type { Page } from "@playwright/test";
import { button, consoleSettings, expectAccessible, field, inDialog, openConsole } from "./console.ts";
import { expect, test } from "./fixtures.ts";

/** What stands around a tenant in the console: webhooks, keys, identity providers, applications, and the tenants themselves. */

test.use({ settings: consoleSettings, contextOptions: { reducedMotion: "reduce" } });

async function visit(page: Page, address: string, heading: string): Promise<void> {
  await page.goto(address);
  await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
}

/** Takes the secret that is shown once. */
async function takeSecret(page: Page, label: string): Promise<string> {
  const value = await field(page, label).inputValue();
  await expectAccessible(page);
  await button(page, "I have copied it").click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  return value;
}

test("an operator runs webhooks, keys, tenants, providers and applications @next", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  // The first call is made before the sign-in.
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  const home = await openConsole(page, server, account, "operator");

  await test.step("webhooks", async () => {
    await visit(page, `${home}/webhooks`, "Webhooks");
    await expect(page.getByText("No webhooks")).toBeVisible();
    await expectAccessible(page);
    await button(page, "New webhook").click();
    await field(page, "Address").fill("https://receiver.invalid/events");
    await field(page, "Events").click();
    await page.getByRole("option", { name: "user.create", exact: true }).click();
    await page.keyboard.press("Tab");
    await expectAccessible(page);
    await inDialog(page, "Save").click();
    expect(await takeSecret(page, "Signing secret")).toMatch(/^whsec_/);
    await page.getByRole("link", { name: "https://receiver.invalid/events" }).click();
    await button(page, "Send a test event").click();
    await button(page, "test").click();
    await expect(page.getByText("The host name was not found.").first()).toBeVisible();
    await expect(page.getByText("Data of the event")).toBeVisible();
    await expectAccessible(page);
    await expect(page).toHaveURL(/delivery=/);
    await inDialog(page, "Close").click();
    await expect(page).not.toHaveURL(/delivery=/);
    await expectAccessible(page);

    await button(page, "Deliver a range again").click();
    await inDialog(page, "Deliver again").click();
    await expect(page.getByText("0 events are delivered again.")).toBeVisible();
    await expectAccessible(page);
    await inDialog(page, "Cancel").click();

    await button(page, "Edit").click();
    await page.getByRole("switch", { name: "Enabled" }).click({ force: true });
    await inDialog(page, "Save").click();
    await expect(page.getByText("Disabled", { exact: true })).toBeVisible();
    await expect(button(page, "Send a test event")).toBeDisabled();
    await button(page, "New secret").click();
    await inDialog(page, "New secret").click();
    expect(await takeSecret(page, "Signing secret")).toMatch(/^whsec_/);
    await button(page, "Delete").click();
    // The list of deliveries is read again while one waits: not when the webhook is gone, and the page is still shown.
    await page.route(/deleteWebhook/, async (route) => {
      const response = await route.fetch();
      await setTimeout(4_000);
      await route.fulfill({ response });
    });
    await inDialog(page, "Delete").click();
    await expect(page.getByText("No webhooks")).toBeVisible();
  });

  await test.step("API keys", async () => {
    await visit(page, `${home}/keys`, "API keys");
    await button(page, "New key").click();
    await field(page, "Name").fill("nightly import");
    await expectAccessible(page);
    await inDialog(page, "New key").click();
    const key = await takeSecret(page, "Key");
    const list = () => fetch(`${server.url}/admin/users`, { headers: { authorization: `Bearer ${key}` } });
    expect((await list()).status).toBe(200);
    const row = page.getByRole("row").filter({ hasText: "nightly import" });
    await row.getByRole("button", { name: /^Delete/ }).click();
    await expectAccessible(page);
    await inDialog(page, "Delete").click();
    await expect(row).toHaveCount(0);
    expect((await list()).status).toBe(401);
  });

  const name = "Harbour";

  await test.step("tenants", async () => {
    await visit(page, `${home}/tenants`, "Tenants");
    await button(page, "New tenant").click();
    await field(page, "Name").fill("Harbor");
    await inDialog(page, "Save").click();
    await button(page, "Edit Harbor").click();
    await field(page, "Name").fill(name);
    await expectAccessible(page);
    await inDialog(page, "Save").click();
    await page.getByRole("link", { name }).click();
    await expect(page).not.toHaveURL(home);
    await expect(page.getByRole("combobox", { name: "Tenant" })).toHaveValue(name);
  });
  const tenant = page.url();

  await test.step("identity providers", async () => {
    await visit(page, `${home}/providers`, "Identity providers");
    await expect(page.getByText("This is the default tenant.")).toBeVisible();
    await visit(page, `${tenant}/providers`, "Identity providers");
    await button(page, "New OpenID provider").click();
    await field(page, "Key").fill("acme");
    await field(page, "Display name").fill("Acme");
    await field(page, "Issuer").fill("https://id.acme.example");
    await field(page, "Client id").fill("stile");
    await field(page, "Secret").fill("hush");
    await expectAccessible(page);
    await inDialog(page, "Create").click();
    await expect(page.getByRole("heading", { level: 1, name: "Acme" })).toBeVisible();
    await expect(page.getByText(/\/thirdparty\/callback$/)).toBeVisible();
    await field(page, "Client id").fill("other");
    await page.getByRole("radiogroup", { name: "Allow linking" }).getByText("On", { exact: true }).click();
    await expect(page.getByText("2 changes")).toBeVisible();
    await expectAccessible(page);
    await button(page, "Save").click();
    await expect(page.getByText("The provider is changed.")).toBeVisible();
    await page.reload();
    await expect(field(page, "Client id")).toHaveValue("other");
    await expect(field(page, "Secret")).toHaveAttribute("placeholder", "Set. Type to replace it");
    await button(page, "Delete").click();
    await inDialog(page, "Delete").click();
    await expect(page).toHaveURL(`${tenant}/providers`);
    await expect(page.getByRole("link", { name: "Acme" })).toHaveCount(0);
    await expectAccessible(page);
  });

  await test.step("applications", async () => {
    await visit(page, `${tenant}/applications`, "Applications");
    await expect(
      page.getByText("The OpenID provider of this tenant is off.", { exact: false }),
    ).toBeVisible();
    await expectAccessible(page);
    await button(page, "New application").click();
    await field(page, "Client id").fill("shop");
    await field(page, "Name").fill("The shop");
    await field(page, "Redirect URIs").fill("https://shop.example/return");
    await page.keyboard.press("Enter");
    await inDialog(page, "Create").click();
    await expect(page.getByText("Public client", { exact: true })).toBeVisible();
    await button(page, "New secret").click();
    await inDialog(page, "New secret").click();
    expect(await takeSecret(page, "Client secret")).not.toBe("");
    await field(page, "Name").fill("The corner shop");
    await button(page, "Save").click();
    await expect(page.getByRole("heading", { level: 1, name: "The corner shop" })).toBeVisible();
    await expectAccessible(page);
    await button(page, "Delete").click();
    await inDialog(page, "Delete").click();
    await expect(page.getByText("No applications")).toBeVisible();
  });

  await test.step("settings", async () => {
    await visit(page, `${tenant}/settings?section=password`, "Settings");
    await field(page, "password.min_length").fill("14");
    await expectAccessible(page);
    await button(page, "Review and save").click();
    await expect(page.getByText("0 users were judged. None is affected.")).toBeVisible();
    await expectAccessible(page);
    await inDialog(page, "Save").click();
    await expect(page.getByText("The settings are saved.")).toBeVisible();
    await page.getByRole("link", { name: "History" }).click();
    await expect(page.getByRole("row").filter({ hasText: "password.min_length" })).toHaveCount(1);
    await expectAccessible(page);
    await page
      .getByRole("button", { name: /^Restore/ })
      .first()
      .click();
    await inDialog(page, "Restore").click();
    await expect(page.getByText("The version is in force again.")).toBeVisible();
    await visit(page, `${tenant}/settings?q=min_length`, "Settings");
    await expect(field(page, "password.min_length")).toHaveValue("");
  });

  await test.step("a tenant goes when its name is typed", async () => {
    await visit(page, `${home}/tenants`, "Tenants");
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByRole("button", { name: /^Delete/ }).click();
    await expect(page.getByText("its 0 users")).toBeVisible();
    await expect(inDialog(page, "Delete")).toBeDisabled();
    await expectAccessible(page);
    await field(page, `Type “${name}” to confirm`).fill(name);
    await inDialog(page, "Delete").click();
    await expect(row).toHaveCount(0);
  });
});

test("an auditor is offered no change", async ({ page, server, account, pageErrors }) => {
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  const home = await openConsole(page, server, account, "auditor");
  await expect(page.getByRole("link", { name: "Tenants" })).toHaveCount(0);
  for (const [path, heading, change] of [
    ["webhooks", "Webhooks", "New webhook"],
    ["keys", "API keys", "New key"],
    ["applications", "Applications", "New application"],
  ] as const) {
    await visit(page, `${home}/${path}`, heading);
    await expect(button(page, change)).toHaveCount(0);
  }
});

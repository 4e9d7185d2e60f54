import { type FakeProvider, startFakeProvider } from "../server/testing/fake-provider.ts";
import { button, consoleSettings, expectAccessible, field, inDialog, openConsole } from "./console.ts";
import { test as base, expect } from "./fixtures.ts";
import { stile } from "./stile.ts";

/** Checks and test sign-ins of identity providers in the console, and the page of signing and sealing keys. */

const test = base.extend<object, { fake: FakeProvider }>({
  fake: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from here
    async ({}, use) => {
      const fake = await startFakeProvider("stile");
      await use(fake);
      await fake.close();
    },
    { scope: "worker" },
  ],
});

test.use({ settings: consoleSettings, contextOptions: { reducedMotion: "reduce" } });

test("an operator checks and tries a provider, rotates keys and moves secrets @next", async ({
  page,
  server,
  account,
  fake,
  pageErrors,
}) => {
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  const home = await openConsole(page, server, account, "operator");
  const id = await stile(server, ["tenants", "create", "--name", "Harbour"]);
  const tenant = `${new URL(home).origin}/console/${id}`;

  await test.step("a provider is checked before and after it is saved", async () => {
    await page.goto(`${tenant}/providers`);
    await button(page, "New OpenID provider").click();
    await field(page, "Key").fill("fake");
    await field(page, "Display name").fill("Fake");
    await field(page, "Issuer").fill(`${fake.issuer}/wrong`);
    await field(page, "Client id").fill("stile");
    await field(page, "Secret").fill("hush");
    await inDialog(page, "Check").click();
    await expect(page.getByText("The discovery document cannot be used", { exact: false })).toBeVisible();
    await expectAccessible(page);
    await field(page, "Issuer").fill(fake.issuer);
    await inDialog(page, "Check").click();
    await expect(page.getByText("The discovery document was read.")).toBeVisible();
    await inDialog(page, "Create").click();
    await expect(page.getByRole("heading", { level: 1, name: "Fake" })).toBeVisible();
    await button(page, "Check").click();
    await expect(page.getByText("It publishes 1 key that", { exact: false })).toBeVisible();
    await expect(page.getByText(/^\d+ errors?, \d+ warnings?\.$/)).toBeVisible();
    await expectAccessible(page);
  });

  await test.step("a test sign-in shows claims as text, and what would become of them", async () => {
    fake.person = { sub: "f-1", email: account.address, email_verified: true, name: "<b>Ada</b>" };
    const opened = page.waitForEvent("popup");
    await button(page, "Test sign-in").click();
    const popup = await opened;
    await expect(popup.getByText("is shown to the operator of the console")).toBeVisible();
    await expectAccessible(popup);
    await button(popup, "Continue").click();
    await popup.waitForURL(/\/providers\/custom_fake\/test\?id=/);
    await expect(popup.getByText("The sign-in would succeed")).toBeVisible();
    await expect(
      popup.getByText(`An account with the address ${account.address} would be created.`),
    ).toBeVisible();
    await expect(popup.getByText("<b>Ada</b>").first()).toBeVisible();
    await popup.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(popup);
    await popup.goto(popup.url().replace(/id=.*/, `id=${crypto.randomUUID()}`));
    await expect(popup.getByText("There is no such test")).toBeVisible();
    await popup.close();
    // A second answer finds nothing to complete, and there is still no account.
    expect(await stile(server, ["users", "list", "--tenant", id, "--json"])).not.toContain(account.address);
  });

  await test.step("signing keys are rotated with what it means", async () => {
    await page.goto(`${tenant}/signing-keys`);
    await expect(page.getByRole("heading", { level: 1, name: "Signing and sealing keys" })).toBeVisible();
    await expectAccessible(page);
    await button(page, "Rotate Tokens of sessions").click();
    await expect(page.getByText("no session ends", { exact: false })).toBeVisible();
    await expectAccessible(page);
    await inDialog(page, "Rotate").click();
    await expect(page.getByText("A new key is made.")).toBeVisible();
    await expect(page.getByText("Signs", { exact: true }).first()).toBeVisible();
  });

  await test.step("stored secrets are moved with progress", async () => {
    await expect(page.getByText("first: seals")).toBeVisible();
    await button(page, "Move values").click();
    await expectAccessible(page);
    await inDialog(page, "Move values").click();
    await expect(page.getByText("The last move is finished")).toBeVisible({ timeout: 30_000 });
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
  });
});

test("an administrator of a tenant is offered no keys of the operator", async ({
  page,
  server,
  account,
  pageErrors,
}) => {
  pageErrors.expect(/401 \(Unauthorized\)/);
  pageErrors.expect(/favicon\.ico/);
  await openConsole(page, server, account, "administrator");
  await expect(page.getByRole("link", { name: "Identity providers" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Signing keys" })).toHaveCount(0);
});

import { expect, test } from "./fixtures.ts";
import { button, expectPage, signInByPassword } from "./steps.ts";

test.use({ settings: { STILE_PASSKEY_CONDITIONAL_CREATE: "true" } });

/**
 * Chromium creates passkeys without a prompt only after its own password manager has filled in the password, which
 * a test cannot do. So here its authenticator creates them on request without user interaction.
 */
function createsByItself(): void {
  const { credentials } = navigator;
  const create = credentials.create.bind(credentials);
  credentials.create = ({
    mediation,
    ...options
  }: CredentialCreationOptions & { mediation?: string } = {}) => {
    (window as unknown as { asked?: string | undefined }).asked = mediation;
    return create(options);
  };
  const capabilities = PublicKeyCredential.getClientCapabilities.bind(PublicKeyCredential);
  PublicKeyCredential.getClientCapabilities = async () => ({
    ...(await capabilities()),
    conditionalCreate: true,
  });
}

test("a browser that creates a passkey without a prompt after a password does so without a click", async ({
  page,
  account,
  authenticator,
}) => {
  await page.addInitScript(createsByItself);
  await authenticator.willConfirm();
  await signInByPassword(page, account);
  await expectPage(page, "success");
  expect(await page.evaluate(() => (window as unknown as { asked?: string }).asked)).toBe("conditional");
  expect(await authenticator.count()).toBe(1);
  const me = await (await page.request.get("/me")).json();
  expect(me.passkeys).toHaveLength(1);
});

test("a browser that fails to create a passkey leaves the creation to the user, without a notice", async ({
  page,
  account,
  authenticator,
}) => {
  await authenticator.willFail();
  await signInByPassword(page, account);
  await expectPage(page, "createPasskey");
  await expect(button(page, "Create a passkey")).toBeVisible();
  await page.waitForLoadState("networkidle");
  await expectPage(page, "createPasskey");
  await expect(page.locator(".stile-alert")).toHaveCount(0);
  expect(await authenticator.count()).toBe(0);
});

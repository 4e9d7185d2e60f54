import { expect, test } from "./fixtures.ts";
import {
  button,
  declineSecondStep,
  emailField,
  enterCode,
  expectPage,
  newPasswordField,
  passwordField,
} from "./steps.ts";

// Registration by username alone is allowed; the next sign-in asks for the rest.
test.use({
  settings: {
    STILE_EMAIL_OPTIONAL: "true",
    STILE_EMAIL_ACQUIRE_ON_REGISTRATION: "false",
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_OPTIONAL: "false",
    STILE_PASSWORD_OPTIONAL: "true",
    STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
    STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
    STILE_PASSKEY_ACQUIRE_ON_LOGIN: "never",
  },
});

test("a user chooses how to sign in, and adds an address later", async ({
  page,
  context,
  mailbox,
  address,
  authenticator,
}) => {
  await authenticator.willWait();
  const name = `ada_${crypto.randomUUID().slice(0, 8)}`;
  await page.goto("/?flow=registration");
  await expectPage(page, "registration");
  await page.getByLabel("Username", { exact: true }).fill(name);
  await button(page, "Continue").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("How will you sign in next time?");
  await button(page, /With a passkey/).click();
  await expectPage(page, "createPasskey");
  await button(page, "Back").click();
  await button(page, /With a password/).click();
  await expectPage(page, "setPassword");
  await newPasswordField(page).fill("seven herons over the lake");
  await button(page, "Save password").click();
  await declineSecondStep(page);
  await expectPage(page, "success");
  await context.clearCookies();

  await page.goto("/");
  await expectPage(page, "login");
  await page.getByLabel("Email or username").fill(name);
  await button(page, "Continue").click();
  await expectPage(page, "methods");
  await button(page, "Enter your password").click();
  await expectPage(page, "password");
  await passwordField(page).fill("seven herons over the lake");
  await button(page, "Sign in").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Add your email address");
  const asked = mailbox.messages.length;
  await emailField(page).or(page.getByLabel("Email (optional)")).fill(address);
  await button(page, "Continue").click();
  await expectPage(page, "code");
  await enterCode(page, await mailbox.codeFor(address, asked));
  await expectPage(page, "success");
});

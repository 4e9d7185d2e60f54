import { expect, test } from "./fixtures.ts";
import {
  button,
  chooseMethod,
  codeField,
  declinePasskey,
  declineSecondStep,
  emailField,
  enterAddress,
  enterCode,
  enterPassword,
  expectPage,
  finishSignIn,
  newPasswordField,
  openLogin,
} from "./steps.ts";

const password = "seven herons over the lake";

test("a user registers with a mailed code, a password and a passkey", { tag: "@next" }, async ({
  page,
  mailbox,
  address,
  authenticator,
  context,
}) => {
  await openLogin(page);
  await page.getByRole("link", { name: "Create an account" }).or(button(page, "Create an account")).click();
  await expectPage(page, "registration");

  const asked = mailbox.messages.length;
  await enterAddress(page, address);
  await expectPage(page, "code");
  await expect(page.getByText(address)).toBeVisible();
  await enterCode(page, await mailbox.codeFor(address, asked));

  await expectPage(page, "setPassword");
  await newPasswordField(page).fill(password);
  await button(page, "Save password").click();

  await expectPage(page, "createPasskey");
  await authenticator.willConfirm();
  await button(page, "Create a passkey").click();
  await declineSecondStep(page);

  await expectPage(page, "success");
  expect(await authenticator.count()).toBe(1);
  const session = (await context.cookies()).find(({ name }) => name === "service");
  expect(session).toMatchObject({ httpOnly: true, path: "/", sameSite: "Lax" });
  const me = await (await page.request.get("/me")).json();
  expect(me).toMatchObject({
    emails: [{ address, is_verified: true, is_primary: true }],
    passkeys: [{ backup_eligible: expect.any(Boolean), transports: ["internal"] }],
  });
});

test("a common password is rejected, and the next one accepted", async ({
  page,
  mailbox,
  address,
  authenticator,
}) => {
  await authenticator.willWait();
  await page.goto("/?flow=registration");
  await expectPage(page, "registration");
  const asked = mailbox.messages.length;
  await enterAddress(page, address);
  await enterCode(page, await mailbox.codeFor(address, asked));
  await expectPage(page, "setPassword");

  await newPasswordField(page).fill("short");
  await button(page, "Save password").click();
  await expect(page.getByText("Please use at least 8 characters.")).toBeVisible();

  await newPasswordField(page).fill("password123");
  await button(page, "Save password").click();
  await expect(page.getByText("This password is used too often to be safe.")).toBeVisible();
  await expect(newPasswordField(page)).toHaveAttribute("aria-invalid", "true");

  await newPasswordField(page).fill(password);
  await button(page, "Save password").click();
  await declinePasskey(page);
  await declineSecondStep(page);
  await expectPage(page, "success");
});

test("A4 registering an address that has an account looks the same, and its owner is notified", async ({
  page,
  mailbox,
  account,
}) => {
  await page.goto("/?flow=registration");
  const asked = mailbox.messages.length;
  await enterAddress(page, account.address);
  await expectPage(page, "code");
  const mail = await mailbox.waitFor(account.address, asked);
  expect(mail.subject).toContain("already have");
  expect(mail.text).not.toMatch(/^\s*\d{6}\s*$/m);
  await enterCode(page, "000000");
  await expect(page.getByText("This is not the code we sent, or it is too old.")).toBeVisible();
});

test("a malformed address is reported before anything is sent", async ({ page }) => {
  await page.goto("/?flow=registration");
  await emailField(page).fill("unknown@nowhere");
  await button(page, "Continue").click();
  await expect(page.getByText("This does not look like an email address.")).toBeVisible();
  await expectPage(page, "registration");
});

test("a registered user signs in at once with the chosen credential", { tag: "@next" }, async ({
  page,
  context,
  account,
  mailbox,
}) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await finishSignIn(page);
  await context.clearCookies();

  await openLogin(page);
  const asked = mailbox.messages.length;
  await chooseMethod(page, account.address, "code");
  await enterCode(page, await mailbox.codeFor(account.address, asked));
  // The passkey was declined a moment ago, so it is not offered again.
  await expectPage(page, "success");
  await expect(codeField(page)).toHaveCount(0);
});

import { signUp } from "./account.ts";
import { codesOf } from "./codes.ts";
import { expect, test } from "./fixtures.ts";
import {
  button,
  codeField,
  declineSecondStep,
  emailField,
  enterAddress,
  expectPage,
  newPasswordField,
  passwordField,
} from "./steps.ts";

test.use({ javaScriptEnabled: false });

test("a whole registration, and a sign-in with the password, need no script", async ({
  page,
  context,
  mailbox,
  address,
}) => {
  const password = "seven herons over the lake";
  await page.goto("/?flow=registration");
  await expectPage(page, "registration");

  await emailField(page).fill("unknown@nowhere");
  await button(page, "Continue").click();
  await expect(page.getByText("This does not look like an email address.")).toBeVisible();
  await expect(emailField(page)).toHaveValue("unknown@nowhere");

  const asked = mailbox.messages.length;
  await emailField(page).fill(address);
  await button(page, "Continue").click();
  await expectPage(page, "code");
  await codeField(page).fill(await mailbox.codeFor(address, asked));
  await button(page, "Confirm").click();

  await expectPage(page, "setPassword");
  await newPasswordField(page).fill(password);
  await button(page, "Save password").click();
  await declineSecondStep(page);
  await expectPage(page, "success");
  expect((await (await page.request.get("/sessions/validate")).json()).is_valid).toBe(true);
  await context.clearCookies();

  await page.goto("/");
  await expectPage(page, "login");
  await emailField(page).fill(address);
  await button(page, "Continue").click();
  await expectPage(page, "methods");
  await button(page, "Enter your password").click();
  await expectPage(page, "password");

  await passwordField(page).fill("not the password at all");
  await button(page, "Sign in").click();
  await expect(page.getByText("This password does not match.")).toBeVisible();
  await button(page, "Back").click();
  await expectPage(page, "methods");
  await button(page, "Enter your password").click();
  await passwordField(page).fill(password);
  await button(page, "Sign in").click();
  await expectPage(page, "success");
  const me = await (await page.request.get("/me")).json();
  expect(me.emails[0].address).toBe(address);
});

test("A131 an authenticator app is set up without a script, and its recovery codes are shown once", async ({
  page,
  mailbox,
  address,
}) => {
  await page.goto("/?flow=registration");
  const asked = mailbox.messages.length;
  await emailField(page).fill(address);
  await button(page, "Continue").click();
  await codeField(page).fill(await mailbox.codeFor(address, asked));
  await button(page, "Confirm").click();
  await newPasswordField(page).fill("seven herons over the lake");
  await button(page, "Save password").click();
  await expectPage(page, "secondStep");
  await button(page, /An authenticator app/).click();
  await expectPage(page, "setUpApp");
  const codes = codesOf((await page.locator(".stile-secret code").textContent()) ?? "");
  await codeField(page).fill(await codes.next());
  await button(page, "Confirm").click();
  await expectPage(page, "success");
  await expect(page.locator(".stile-codes-list code")).toHaveCount(10);
  await page.reload();
  await expectPage(page, "success");
  await expect(page.locator(".stile-codes-list code")).toHaveCount(0);
});

test("the first page has no button that needs a script, and keeps a rejected address", async ({ page }) => {
  await page.goto("/");
  await expectPage(page, "login");
  await expect(button(page, /passkey/)).toBeHidden();
  await expect(page.getByText("or", { exact: true })).toBeHidden();
  await emailField(page).fill("unknown@nowhere");
  await button(page, "Continue").click();
  await expect(page.getByText("This does not look like an email address.")).toBeVisible();
  await expect(emailField(page)).toHaveValue("unknown@nowhere");
});

test("the code of an app, and a recovery code in its place, sign in without a script", async ({
  page,
  context,
  server,
  mailbox,
  address,
}) => {
  const { password, codes, recoveryCodes } = await signUp(server.url, mailbox, address, { app: true });
  const toSecondStep = async () => {
    await page.goto("/");
    await enterAddress(page, address);
    await button(page, "Enter your password").click();
    await passwordField(page).fill(password);
    await button(page, "Sign in").click();
    await expectPage(page, "appCode");
  };
  await toSecondStep();
  await codeField(page).fill((await codes?.next()) ?? "");
  await button(page, "Confirm").click();
  await button(page, "Not now").click();
  await expectPage(page, "success");

  await context.clearCookies();
  await toSecondStep();
  await page.locator("summary", { hasText: "recovery code" }).click();
  await page.getByLabel("Recovery code").fill(recoveryCodes[0] ?? "");
  await page.locator("form[data-action=recovery_code_validate]").getByRole("button").click();
  await button(page, "Not now").click();
  await expectPage(page, "success");
});

test("A29 a stale form performs nothing, and shows the current state", async ({
  page,
  context,
  account,
  mailbox,
}) => {
  await page.goto("/");
  await enterAddress(page, account.address);
  await expectPage(page, "methods");
  const second = await context.newPage();
  await second.goto("/");
  await button(second, "Enter your password").click();
  await expectPage(second, "password");

  const before = mailbox.messages.length;
  await button(page, "Get a code by email").click();
  await expectPage(page, "password");
  await passwordField(page).fill(account.password);
  await button(page, "Sign in").click();
  await expectPage(page, "success");
  const mails = mailbox.messages
    .slice(before)
    .filter((mail) => JSON.stringify(mail.to).includes(account.address));
  expect(mails).toEqual([]);
});

test("the account page shows the account at once, and its first change starts the flow", async ({
  page,
  account,
}) => {
  await page.goto("/");
  await enterAddress(page, account.address);
  await button(page, "Enter your password").click();
  await passwordField(page).fill(account.password);
  await button(page, "Sign in").click();
  await expectPage(page, "success");

  await page.goto("/account");
  await expectPage(page, "account");
  await expect(page.getByText(account.address).first()).toBeVisible();
  await expect(button(page, /passkey/i)).toBeHidden();
  await page.locator("summary", { hasText: "Change password" }).click();
  await newPasswordField(page).fill("nine otters under the bridge");
  await page.locator("form[data-action=password_update]").getByRole("button").click();
  await expectPage(page, "account");

  await page.context().clearCookies();
  await page.goto("/");
  await enterAddress(page, account.address);
  await button(page, "Enter your password").click();
  await passwordField(page).fill("nine otters under the bridge");
  await button(page, "Sign in").click();
  await expectPage(page, "success");
});

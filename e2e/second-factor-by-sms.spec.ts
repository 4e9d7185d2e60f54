import { expect, test } from "./fixtures.ts";
import { codeBySms, countSms, newNumber } from "./sms.ts";
import {
  button,
  codeField,
  declinePasskey,
  enterAddress,
  enterCode,
  expectPage,
  newPasswordField,
  signInByPassword,
} from "./steps.ts";

test.use({
  settings: {
    STILE_PHONE_ENABLED: "true",
    STILE_PHONE_ALLOWED_COUNTRIES: "DE",
    STILE_PHONE_USE_AS_LOGIN_IDENTIFIER: "false",
    STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
    STILE_MFA_SMS_ENABLED: "true",
    STILE_MFA_DEVICE_TRUST_POLICY: "never",
  },
});

const password = "seven herons over the lake";

test("a user sets up codes by SMS as second step, and is asked for one at the next sign-in", async ({
  page,
  context,
  mailbox,
  address,
  authenticator,
}) => {
  await authenticator.willWait();
  const number = newNumber();
  await page.goto("/?flow=registration");
  await enterAddress(page, address);
  await enterCode(page, await mailbox.codeFor(address));
  await expectPage(page, "setPassword");
  await newPasswordField(page).fill(password);
  await button(page, "Save password").click();
  await declinePasskey(page);
  await expectPage(page, "secondStep");
  await button(page, /Codes by SMS/).click();
  await expectPage(page, "setUpSms");
  await page.getByLabel("Phone number").fill(number);
  await button(page, "Continue").click();
  await expectPage(page, "codeBySms");
  await enterCode(page, await codeBySms(page, number, 0, "localhost"));
  await expectPage(page, "success");
  await button(page, "I have saved them").click();

  await context.clearCookies();
  const before = await countSms(page, number);
  await signInByPassword(page, { address, password });
  await expectPage(page, "secondCodeBySms");
  await expect(codeField(page)).toHaveAttribute("autocomplete", "one-time-code");
  const code = await codeBySms(page, number, before, "localhost");
  await enterCode(page, String((Number(code) + 1) % 1_000_000).padStart(6, "0"));
  await expect(page.getByText("This is not the code we sent, or it is too old.")).toBeVisible();
  await enterCode(page, code);
  await expectPage(page, "success");
});

import { expect, test } from "./fixtures.ts";
import { codeBySms, countSms, newNumber } from "./sms.ts";
import { button, codeField, declinePasskey, enterCode, expectPage, newPasswordField } from "./steps.ts";

test.use({
  settings: {
    STILE_PHONE_ENABLED: "true",
    STILE_PHONE_ALLOWED_COUNTRIES: "DE",
    STILE_PHONE_ACQUIRE_ON_REGISTRATION: "true",
    STILE_EMAIL_ACQUIRE_ON_REGISTRATION: "false",
    STILE_EMAIL_ACQUIRE_ON_LOGIN: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  },
});

test("a user registers with a phone number, and signs in by a code by SMS", async ({
  page,
  context,
  authenticator,
}) => {
  await authenticator.willWait();
  const number = newNumber();
  await page.goto("/?flow=registration");
  const field = page.getByLabel("Phone number");
  await expect(field).toHaveAttribute("type", "tel");
  await expect(field).toHaveAttribute("autocomplete", "tel");
  await field.fill("+44 7911 123456");
  await button(page, "Continue").click();
  await expect(page.getByText("Codes cannot be sent to this number.")).toBeVisible();
  await page.getByLabel("Phone number").fill(`${number.slice(0, 3)} ${number.slice(3)}`);
  await button(page, "Continue").click();
  await expectPage(page, "codeBySms");
  await expect(page.getByText(number)).toBeVisible();
  await expect(codeField(page)).toHaveAttribute("autocomplete", "one-time-code");
  await enterCode(page, await codeBySms(page, number, 0, "localhost"));
  await expectPage(page, "setPassword");
  await newPasswordField(page).fill("seven herons over the lake");
  await button(page, "Save password").click();
  await declinePasskey(page);
  await expectPage(page, "success");

  await context.clearCookies();
  await page.goto("/");
  await page.getByLabel("Email / Phone number").fill(number);
  await button(page, "Continue").click();
  await expectPage(page, "methods");
  const before = await countSms(page, number);
  await button(page, "Get a code by SMS").click();
  await expectPage(page, "codeBySms");
  await enterCode(page, await codeBySms(page, number, before, "localhost"));
  await expectPage(page, "success");

  // The account page shows the number, and its removal is not offered: it is the only identifier.
  await page.goto("/account");
  await expectPage(page, "account");
  await expect(page.getByText(number)).toBeVisible();
});

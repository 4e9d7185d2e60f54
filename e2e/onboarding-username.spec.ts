import { expect, test } from "./fixtures.ts";
import { button, expectPage, finishSignIn, signInByPassword } from "./steps.ts";

test.use({
  settings: {
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_OPTIONAL: "true",
    STILE_USERNAME_ACQUIRE_ON_REGISTRATION: "false",
    STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false",
  },
});

test("a user without a username is asked for one at the next sign-in, and may skip it", async ({
  page,
  context,
  account,
}) => {
  const title = page.getByRole("heading", { level: 1 });
  await signInByPassword(page, account);
  await expect(title).toHaveText("Choose a username");
  await button(page, "Not now").click();
  await finishSignIn(page);
  await context.clearCookies();

  await signInByPassword(page, account);
  await expect(title).toHaveText("Choose a username");
  await page.getByRole("textbox").fill(`ada_${crypto.randomUUID().slice(0, 8)}`);
  await button(page, "Continue").click();
  // The passkey was declined a moment ago, so it is not offered again.
  await expectPage(page, "success");
});

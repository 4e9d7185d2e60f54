import { setSessionCookie } from "./account.ts";
import { expect, test } from "./fixtures.ts";
import { enterCode, expectPage, row } from "./steps.ts";

// Here an account may be created before its address is verified.
test.use({ settings: { STILE_EMAIL_REQUIRE_VERIFICATION: "false" } });

test("an unverified address is verified on the account page", async ({
  page,
  context,
  server,
  account,
  mailbox,
}) => {
  await setSessionCookie(context, server.url, account);
  await page.goto("/account");
  await expectPage(page, "account");
  await expect(row(page, account.address).getByText("Not confirmed")).toBeVisible();

  const asked = mailbox.messages.length;
  await row(page, account.address)
    .getByRole("button", { name: /^Confirm/ })
    .click();
  await expectPage(page, "code");
  await enterCode(page, await mailbox.codeFor(account.address, asked));
  await expectPage(page, "account");
  await expect(row(page, account.address).getByText("Not confirmed")).toHaveCount(0);
  const me = await (await page.request.get("/me")).json();
  expect(me.emails).toMatchObject([{ address: account.address, is_verified: true }]);
});

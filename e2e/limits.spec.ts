import { expect, test } from "./fixtures.ts";
import { button, chooseMethod, openLogin, sees } from "./steps.ts";

test.use({ settings: { STILE_RATE_LIMITER_ENABLED: "true" } });

test("A21 a fourth code within the minute has to wait, and the page counts down", async ({
  page,
  account,
  mailbox,
}) => {
  await openLogin(page);
  await chooseMethod(page, account.address, "code");
  const sent = () =>
    mailbox.messages.filter((mail) => JSON.stringify(mail.to).includes(account.address)).length;
  // The registration has used one of the three; entering this page the second.
  await button(page, "Send a new code").click();
  await expect.poll(sent).toBe(3);

  await button(page, "Send a new code").click();
  await expect(page.getByText("That was a little fast.")).toBeVisible();
  const waiting = button(page, /^New code in /);
  await expect(waiting).toBeDisabled();
  const first = (await waiting.textContent()) ?? "";
  await expect(waiting).not.toHaveText(first);
  await sees(page, "code");
  expect(sent()).toBe(3);
});

import { expect, test } from "./fixtures.ts";
import { button, chooseMethod, expectPage, openLogin } from "./steps.ts";

test.use({ settings: { STILE_RATE_LIMITER_ENABLED: "true" } });

test("A21 a fourth code within the minute has to wait, and the page counts down", async ({
  page,
  account,
  mailbox,
}) => {
  const sent = () =>
    mailbox.messages.filter((mail) => JSON.stringify(mail.to).includes(account.address)).length;
  const before = sent();
  await openLogin(page);
  await chooseMethod(page, account.address, "code");
  await expect.poll(sent).toBe(before + 1);

  // The code of the registration counts as well if it was requested from the same address of this machine.
  const tooFast = page.getByText("That was a little fast.");
  for (let count = sent(); !(await tooFast.isVisible()); count = sent()) {
    await button(page, "Send a new code").click();
    await expect.poll(async () => sent() > count || (await tooFast.isVisible())).toBe(true);
  }
  const total = sent();
  expect(total - before).toBeGreaterThanOrEqual(2);
  expect(total - before).toBeLessThanOrEqual(3);
  const waiting = button(page, /^New code in /);
  await expect(waiting).toBeDisabled();
  const first = (await waiting.textContent()) ?? "";
  await expect(waiting).not.toHaveText(first);
  await expectPage(page, "code");
  expect(sent()).toBe(total);
});

import { expect, test } from "./fixtures.ts";
import { choiceAnswer, chooseMethod, enterPassword, finishSignIn, openLogin } from "./steps.ts";

test.use({ settings: { STILE_SESSION_COOKIE_RETENTION: "prompt" } });

const DAY_SECONDS = 24 * 3600;

for (const remembered of [true, false]) {
  test(`A40 ${remembered ? "a user who stays signed in gets a persistent cookie" : "a user who does not gets a session cookie"}`, async ({
    page,
    context,
    account,
  }) => {
    await openLogin(page);
    const box = page.getByLabel("Keep me signed in");
    await expect(box).not.toBeChecked();
    if (remembered) {
      await box.check();
      await expect(box).toBeChecked();
    }
    await chooseMethod(page, account.address, "password");
    await enterPassword(page, account.password);
    await finishSignIn(page);
    const cookie = (await context.cookies()).find(({ name }) => name === "service");
    const left = (cookie?.expires ?? 0) - Date.now() / 1000;
    if (remembered) expect(left).toBeGreaterThan(DAY_SECONDS / 2 - 60);
    else expect(cookie?.expires).toBe(-1);
  });
}

test("a checked box stays checked after a reload", async ({ page }) => {
  await openLogin(page);
  const answer = choiceAnswer(page);
  await page.getByLabel("Keep me signed in").check();
  await answer;
  await page.reload();
  await expect(page.getByLabel("Keep me signed in")).toBeChecked();
});

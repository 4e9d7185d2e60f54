import { randomUUID } from "node:crypto";
import { expect, test } from "./fixtures.ts";

const unknown = `/t/${randomUUID()}`;

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    for (const path of ["/nope", "/t/nope", "/t/nope/account", unknown, `${unknown}/account`]) {
      test(`${path.replace(unknown, "/t/{unknown}")} is reported as a missing page`, async ({
        page,
        pageErrors,
      }) => {
        // Browsers log the status.
        pageErrors.expect(/status of 404 .*\((?!.*assets)/);
        const answer = await page.goto(path);
        expect(answer?.status()).toBe(404);
        await expect(page.getByRole("heading", { name: "There is no page here" })).toBeVisible();
        await page.getByRole("link", { name: "Go to sign-in" }).click();
        await expect(page).toHaveURL(/\/$/);
      });
    }
  });
}

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectPage } from "./steps.ts";

/** Presses Tab until the focus is on a control of this name; fails if it is not reachable. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 15; presses++) {
    const focused = page.locator(":focus");
    if ((await focused.count()) > 0) {
      const label = await focused.evaluate((element) => {
        const labels = "labels" in element ? [...((element as HTMLInputElement).labels ?? [])] : [];
        return (
          element.getAttribute("aria-label") ?? [...labels, element].map((node) => node.textContent).join(" ")
        );
      });
      if (name.test(label)) return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab leads nowhere that is called ${name}`);
}

test("every step can be performed with a keyboard", async ({ page, account, authenticator }) => {
  await authenticator.willWait();
  await page.goto("/");
  await expectPage(page, "login");
  await tabTo(page, /Email/);
  await page.keyboard.type(account.address);
  await page.keyboard.press("Enter");

  await expectPage(page, "methods");
  await tabTo(page, /Enter your password/);
  await expect(page.locator(":focus")).toHaveCSS("outline-style", /solid|auto/);
  await page.keyboard.press("Enter");

  await expectPage(page, "password");
  await tabTo(page, /^Password/);
  await page.keyboard.type("wrong on purpose");
  await page.keyboard.press("Enter");
  await expect(page.getByText("This password does not match.")).toBeVisible();
  await tabTo(page, /^Password/);
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type(account.password);
  await page.keyboard.press("Enter");

  await expectPage(page, "createPasskey");
  await tabTo(page, /Not now/);
  await page.keyboard.press("Space");
  await expectPage(page, "success");
});

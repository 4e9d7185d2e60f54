import type { Locator, Page } from "@playwright/test";

/** Controls that a page has before the one that is looked for. */
const MAX_PRESSES = 150;

/** Presses Tab until the focus is on a control. @throws Error if Tab does not lead there */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor({ state: "attached" });
  const isFocused = () => control.evaluate((element) => element === document.activeElement);
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    if (await isFocused()) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${control}`);
}

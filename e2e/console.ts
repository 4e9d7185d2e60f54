import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { RunningServer } from "../server/testing/server.ts";
import type { Account } from "./account.ts";
import { expect, test } from "./fixtures.ts";
import { chooseMethod, declinePasskey, enterPassword } from "./steps.ts";
import { stile } from "./stile.ts";

/** Settings of a server whose console an account without a second factor may enter. */
export const consoleSettings = { STILE_CONSOLE_REQUIRE: "any" };

/**
 * Gives an account a role, signs it in, and opens the console.
 *
 * @param role by default the strongest one
 * @returns the address of the tenant's pages, below which each page has its own
 */
export async function openConsole(
  page: Page,
  server: RunningServer,
  account: Account,
  role = "operator",
): Promise<string> {
  await stile(server, ["console", "grant", account.address, role]);
  // Windows are open at once, and not on their way.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto(`${server.url}/api/console/sign-in`);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(/\/console\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  return page.url();
}

/** The control of a label, which a list of choices may have too, and an asterisk. */
export const field = (page: Page, label: string) =>
  page
    .locator("input, textarea")
    .and(page.getByLabel(label, { exact: true }).or(page.getByLabel(`${label} *`, { exact: true })));

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Opens a page by the command palette. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("textbox", { name: "Search or jump to…" })).toBeFocused();
  await page.keyboard.type(name);
  await expect(page.getByRole("dialog").getByRole("button", { name, exact: true })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name, exact: true })).toBeVisible();
}

/** A button of the window that is open. */
export const inDialog = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true });

/**
 * Checks what is shown with axe.
 *
 * @param rules those that are checked; default: all
 * @returns each rule that is broken, with the elements that break it
 */
export async function axeViolations(
  page: Page,
  rules?: string[],
): Promise<{ rule: string; elements: string[] }[]> {
  // An open window covers the rest of the page, whose colours shine through what lies over it.
  const isCovered = (await page.getByRole("dialog").count()) > 0;
  // Frames hold pages that are checked by themselves, and mails, in which no script runs: in its other mode axe waits for them.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  if (isCovered) axe.include('[role="dialog"]');
  if (rules) axe.withRules(rules);
  const { violations } = await axe.analyze();
  return violations.map(({ id, help, nodes }) => ({
    rule: `${id}, ${help}`,
    elements: nodes.map(
      ({ html, failureSummary = "" }) => `${html}\n  ${failureSummary.replaceAll("\n", " ")}`,
    ),
  }));
}

/** Checks what is shown with axe, and its colours in the other scheme too: once, because under Next the pages are the same. */
export async function expectAccessible(page: Page): Promise<void> {
  if (test.info().project.name === "next") return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // What opens or changes its colour is measured where it has arrived.
    await expect(async () => {
      const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
      expect(await axeViolations(page, rules), `${page.url()}, ${colorScheme}`).toEqual([]);
    }).toPass({ timeout: 60_000 });
  }
}

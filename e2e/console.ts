import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
<<<<<<< HEAD
import type { RunningServer } from "../server/testing/server.ts";
import type { Account } from "./account.ts";
import { expect } from "./fixtures.ts";
import { chooseMethod, declinePasskey, enterPassword } from "./steps.ts";
import { stile } from "./stile.ts";

/** Settings of a server whose console an account without a second factor may enter. */
export const consoleSettings = { STILE_CONSOLE_REQUIRE: "any" };

/**
 * Gives an account a role, signs it in, and opens the console.
 *
 * @param role by default the strongest one
 * @returns the address of the tenant's pages, below which each page has its own
=======
import type { ConsoleRole } from "../server/console/roles.ts";
import type { RunningServer } from "../server/testing/server.ts";
import type { Account } from "./account.ts";
import { expect } from "./fixtures.ts";
import { chooseMethod, enterPassword } from "./steps.ts";
import { stile } from "./stile.ts";

/** The console in a browser. */

/** Settings of a server whose console takes accounts with a password alone. */
export const consoleSettings = { STILE_CONSOLE_REQUIRE: "any", STILE_PASSKEY_ENABLED: "false" };

/**
 * Gives an account a role, and signs it in to the console.
 *
 * @returns the address of the pages of its tenant, without a slash at its end
>>>>>>> b775e764 (e2e: an operator finds a failed sign-in, and sees an odd hour and where users give up)
 */
export async function openConsole(
  page: Page,
  server: RunningServer,
  account: Account,
<<<<<<< HEAD
  role = "operator",
): Promise<string> {
  await stile(server, ["console", "grant", account.address, role]);
  await page.goto(`${server.url}/api/console/sign-in`);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await declinePasskey(page);
  await page.waitForURL(/\/console\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  return page.url();
}

/** Checks what is shown with axe, in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(
      violations.map(({ id, help, nodes }) => `${id}, ${help}: ${nodes.map(({ html }) => html).join(" ")}`),
      `${page.url()}, ${colorScheme}`,
    ).toEqual([]);
=======
  role: ConsoleRole,
): Promise<string> {
  await stile(server, ["console", "grant", account.address, role]);
  await page.goto(`${server.url}/console`);
  await chooseMethod(page, account.address, "password");
  await enterPassword(page, account.password);
  await page.waitForURL(/\/console\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  return page.url();
}

/** Axe finds nothing on what is shown, in both colour schemes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const faults = violations.map(
      ({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(" ")}`,
    );
    expect(faults).toEqual([]);
>>>>>>> b775e764 (e2e: an operator finds a failed sign-in, and sees an odd hour and where users give up)
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type TestInfo } from "@playwright/test";

/**
 * Starts a browser that blocks cookies; only a profile has rules for them.
 *
 * @param pattern of the pages whose cookies are blocked: that of the page itself, and of the page in the address bar
 * @param use ends before the browser does
 */
export async function blockingCookies(
  { project }: TestInfo,
  pattern: string,
  use: (context: BrowserContext) => Promise<void>,
): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), "stile-profile-"));
  mkdirSync(join(profile, "Default"));
  const cookies = { [pattern]: { setting: 2 } };
  writeFileSync(
    join(profile, "Default", "Preferences"),
    JSON.stringify({ profile: { content_settings: { exceptions: { cookies } } } }),
  );
  const { launchOptions, locale } = project.use;
  const context = await chromium.launchPersistentContext(profile, {
    ...launchOptions,
    locale: locale ?? "en",
  });
  try {
    await use(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true });
  }
}

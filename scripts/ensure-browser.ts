import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "@playwright/test";

/**
 * Runs before the browser tests: installs Chromium if it is missing, from the packages of the system or, if that fails,
 * with Playwright.
 */

const systemBrowser = "/usr/bin/chromium";
const present = () => existsSync(systemBrowser) || existsSync(chromium.executablePath());

const attempts: string[][][] = [
  [
    ["apt-get", "update"],
    ["apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
  ],
  [["npx", "playwright", "install", "chromium"]],
];

for (const commands of attempts) {
  if (present()) break;
  for (const [program = "", ...parameters] of commands) {
    const { status } = spawnSync(program, parameters, {
      stdio: "inherit",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (status !== 0) break;
  }
}

if (!present()) {
  process.stderr.write(
    `stile: the browser tests need Chromium: install the package chromium, which provides ${systemBrowser}\n`,
  );
  process.exit(1);
}

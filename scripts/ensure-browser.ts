import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "@playwright/test";

/**
 * Run before the browser tests: installs a Chromium where there is none, from the system's packages, or else
 * Playwright's own.
 */

const system = "/usr/bin/chromium";
const present = () => existsSync(system) || existsSync(chromium.executablePath());

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
    `stile: the browser tests need a Chromium: install the package chromium, so that there is ${system}\n`,
  );
  process.exit(1);
}

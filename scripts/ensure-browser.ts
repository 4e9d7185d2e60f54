import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium, firefox } from "@playwright/test";

/**
 * Runs before the browser tests: installs Chromium and Firefox if they are missing, from the packages of the system or, if
 * that fails, with Playwright.
 */

const browsers = [
  { name: "chromium", type: chromium, program: "/usr/bin/chromium", debianPackage: "chromium" },
  { name: "firefox", type: firefox, program: "/usr/bin/firefox-esr", debianPackage: "firefox-esr" },
];

for (const { name, type, program, debianPackage } of browsers) {
  const present = () => existsSync(program) || existsSync(type.executablePath());
  const attempts = [
    [
      ["apt-get", "update"],
      ["apt-get", "install", "--yes", "--no-install-recommends", debianPackage, "fonts-dejavu-core"],
    ],
    [["npx", "playwright", "install", name]],
  ];
  for (const commands of attempts) {
    if (present()) break;
    for (const [command = "", ...parameters] of commands) {
      const { status } = spawnSync(command, parameters, {
        stdio: "inherit",
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      });
      if (status !== 0) break;
    }
  }
  if (present()) continue;
  process.stderr.write(
    `stile: the browser tests need ${name}: install the package ${debianPackage}, which provides ${program}\n`,
  );
  process.exit(1);
}

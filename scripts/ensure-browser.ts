import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium, firefox } from "@playwright/test";
import { installDebianPackages } from "./debian-packages.ts";

/**
 * Runs before the browser tests: installs Chromium and Firefox if they are missing, from the packages of the system or, if
 * that fails, with Playwright.
 */

/** Run by Node, because Windows finds no `npx` without a shell. */
const playwright = join(import.meta.dirname, "..", "node_modules", "playwright", "cli.js");

const browsers = [
  { name: "chromium", type: chromium, program: "/usr/bin/chromium", debianPackage: "chromium" },
  { name: "firefox", type: firefox, program: "/usr/bin/firefox-esr", debianPackage: "firefox-esr" },
];

for (const { name, type, program, debianPackage } of browsers) {
  const present = () => existsSync(program) || existsSync(type.executablePath());
  if (!present()) installDebianPackages([debianPackage, "fonts-dejavu-core"]);
  if (!present()) spawnSync(process.execPath, [playwright, "install", name], { stdio: "inherit" });
  if (present()) continue;
  process.stderr.write(
    `stile: the browser tests need ${name}: install the package ${debianPackage}, which provides ${program}\n`,
  );
  process.exit(1);
}

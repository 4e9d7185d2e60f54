import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** Where Playwright cannot download a browser, the system's own is taken. */
const chromium = "/usr/bin/chromium";

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  globalSetup: "./e2e/postgres.ts",
  // A file keeps to one worker: those with settings of their own start a server for each worker that takes part.
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  workers: 2,
  // Only a hang reaches these limits, however slow the machine.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // Screenshots of every step of every test take more time than they save: a trace holds the document itself.
    trace: { mode: "retain-on-failure", screenshots: false },
    launchOptions: {
      ...(existsSync(chromium) ? { executablePath: chromium } : {}),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        // Without these, a machine without a GPU draws every frame twice.
        "--disable-gpu-compositing",
        "--disable-software-rasterizer",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});

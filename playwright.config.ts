import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import type { OfWorker } from "./e2e/fixtures.ts";

/** The system's browser, used where Playwright cannot download one. */
const chromium = "/usr/bin/chromium";

export default defineConfig<object, OfWorker>({
  testDir: "e2e",
  outputDir: "test-results",
  globalSetup: "./e2e/postgres.ts",
  // All tests of a file run in one worker, because each worker starts a server for the file's settings.
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  // Half of a worker's time is waiting, for pages that are drawn and for what a person would take.
  workers: 3,
  // Only a hang reaches these limits, however slow the machine.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  projects: [
    { name: "stile", use: { under: "stile" } },
    // The main journeys again under Next: registration, password, code and passkey on the hosted page, in the component of
    // another origin and in a frame, and a tenant.
    { name: "next", use: { under: "next" }, grep: /@next/ },
  ],
  reporter: [["list"], ["./e2e/require-assertions.ts"]],
  use: {
    browserName: "chromium",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // A trace of every test costs a seventh of the run. What failed leaves what its page said; to see its steps, run
    // it again with `--trace on`.
    trace: "off",
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

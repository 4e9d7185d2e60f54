import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { BootedRuntime } from "./boot.ts";
import { printStartNotice } from "./start-notice.ts";

const production = {
  NODE_ENV: "production",
  DATABASE_URL: "postgresql://localhost/stile",
  SECRET_KEYS: "a key for tests alone, which is long enough",
  BASE_URL: "https://login.example.com",
  SMTP_URL: "smtp://mail.example.com",
};

function warnings(settings: Record<string, string>): string[] {
  const lines: string[] = [];
  const log = { info() {}, warn: (line: string) => void lines.push(line) };
  const config = loadConfig({ ...production, ...settings }, "/nowhere");
  printStartNotice({ config, embedded: null, log } as unknown as BootedRuntime, null);
  return lines;
}

test("a start in production warns if webhooks may post to private addresses", () => {
  expect(warnings({})).toEqual([]);
  expect(warnings({ STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" })).toEqual([
    expect.stringContaining("STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS is true"),
  ]);
});

/** What a start in development prints. */
function notice(settings: Record<string, string>, link: string | null = null): string {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => void written.mockRestore());
  written.mockClear();
  const log = { info() {}, warn() {} };
  const config = loadConfig(settings, "/nowhere");
  printStartNotice({ config, embedded: null, log } as unknown as BootedRuntime, link);
  return written.mock.calls.join();
}

test("a start in development says where the console is, or the link of the first operator", () => {
  expect(notice({})).toContain("  Console   http://localhost:3000/console\n");
  expect(notice({ STILE_CONSOLE_HOST: "console.localhost" })).toContain(
    "  Console   http://console.localhost:3000/console\n",
  );
  expect(notice({}, "http://localhost:3000/link")).toContain(
    "  Console   http://localhost:3000/link (makes the",
  );
  expect(notice({ STILE_CONSOLE_ENABLED: "false" })).not.toContain("Console");
});

test("a start in development says where the metrics are served, if they are", () => {
  expect(notice({ STILE_METRICS_PORT: "9464" })).toMatch(/^ {2}Metrics {3}http:\/\/\S+:9464\/metrics$/m);
  expect(notice({ STILE_METRICS_PORT: "9464", STILE_METRICS_HOST: "::1" })).toContain(
    "http://[::1]:9464/metrics",
  );
  expect(notice({})).not.toContain("Metrics");
});

test("a start in development says what stays in the mailbox", () => {
  const phone = { STILE_PHONE_ENABLED: "true", STILE_PHONE_ALLOWED_COUNTRIES: "DE" };
  expect(notice({})).toContain("/dev/mailbox (SMTP_URL is not set, so mail is kept here)");
  expect(notice(phone)).toContain(
    "mail is kept here; STILE_SMS_DELIVERY_ACCOUNT_SID is not set, so SMS are kept here)",
  );
  const smtp = { SMTP_URL: "smtp://mail.example.com" };
  expect(notice({ ...phone, ...smtp })).toContain("(STILE_SMS_DELIVERY_ACCOUNT_SID is not set");
  expect(notice(smtp)).not.toContain("/dev/mailbox");
});

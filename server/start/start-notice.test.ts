import { expect, test } from "vitest";
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
  printStartNotice({ config, embedded: null, log } as unknown as BootedRuntime);
  return lines;
}

test("a start in production warns if webhooks may post to private addresses", () => {
  expect(warnings({})).toEqual([]);
  expect(warnings({ STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" })).toEqual([
    expect.stringContaining("STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS is true"),
  ]);
});

import type { BrowserContext } from "@playwright/test";
import type { RunningServer } from "../server/testing/server.ts";

export interface PageErrors {
  /** Expects errors like this in the test. */
  expect(pattern: RegExp): void;
  unexpected(): string[];
}

/**
 * Collects errors on the browser's console, uncaught exceptions, violations of the Content Security Policy, and
 * errors in the server's log.
 */
export async function collectPageErrors(context: BrowserContext, server: RunningServer): Promise<PageErrors> {
  const reported: string[] = [];
  const expected: RegExp[] = [];
  const logged = server.logs().length;

  context.on("console", (message) => {
    if (message.type() === "error") reported.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => {
    reported.push(`uncaught: ${error.error().stack ?? error.error().message}`);
  });
  await context.exposeBinding(
    "reportViolation",
    (_source, text: string) => void reported.push(`policy: ${text}`),
  );
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) => {
      const report = (window as unknown as { reportViolation(text: string): void }).reportViolation;
      report(`${violatedDirective} stopped ${blockedURI} (${sourceFile})`);
    });
  });

  return {
    expect: (pattern) => void expected.push(pattern),
    unexpected() {
      const errors = server
        .logs()
        .slice(logged)
        .split("\n")
        .filter((line) => isError(line));
      return [...reported, ...errors].filter((text) => !expected.some((pattern) => pattern.test(text)));
    },
  };
}

/** Log lines of pino's level 50 and above, and other lines that look like a failure. */
function isError(line: string): boolean {
  try {
    const { level } = JSON.parse(line) as { level?: unknown };
    return level === "error" || level === "fatal" || (typeof level === "number" && level >= 50);
  } catch {
    return /error|exception/i.test(line);
  }
}

import { vi } from "vitest";

/**
 * Retries a check until it passes. The limit is two minutes, so that slow machines do not fail; the default of
 * `vi.waitFor` is one second.
 *
 * @returns the result of the check
 */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: 120_000, interval: 10 });
}

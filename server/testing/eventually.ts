import { vi } from "vitest";

/**
 * Tries a check until it holds. Only a hang reaches its limit, however slow the machine; `vi.waitFor` gives up after a
 * second.
 *
 * @returns what the check returns
 */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: 120_000, interval: 10 });
}

import { setTimeout as pause } from "node:timers/promises";

/** Reached by a check that never passes only: slow machines must not fail. */
const TIMEOUT_MS = 120_000;

const INTERVAL_MS = 10;

/**
 * Retries a check until it passes, for two minutes at most. Programs outside of a test may use it too.
 *
 * @returns the result of the check
 * @throws what the check threw last
 */
export async function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(INTERVAL_MS);
    }
  }
}

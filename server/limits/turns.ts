import { createWaitingLine, type LineLimits, type WaitingLine } from "../lib/waiting-line.ts";

/** Limits how many requests of one subject are handled at once, in this process. A request that waits holds no connection. */
export type Turns = ReturnType<typeof createTurns>;

/** Requests that are handled at once, and requests that wait for a turn. */
export type TurnLimits = Pick<LineLimits, "running" | "waiting">;

const MAX_WAIT_MS = 3_000;

/** @param enabled false: every turn is granted at once */
export function createTurns({ enabled }: { enabled: boolean }) {
  const lines = new Map<string, WaitingLine>();
  return {
    /**
     * Waits for a turn.
     *
     * @param key the subject, including the tenant
     * @returns a function that ends the turn and must be called; null if too many wait, or this one has waited too long
     */
    async take(key: string, limits: TurnLimits): Promise<(() => void) | null> {
      if (!enabled) return () => {};
      const line = lines.get(key) ?? createWaitingLine();
      lines.set(key, line);
      const end = await line.take({ ...limits, maxWaitMs: MAX_WAIT_MS });
      if (!end) return null;
      return () => {
        end();
        if (line.held === 0 && lines.get(key) === line) lines.delete(key);
      };
    },
  };
}

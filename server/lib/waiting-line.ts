export type WaitingLine = ReturnType<typeof createWaitingLine>;

export interface LineLimits {
  /** Places. */
  running: number;
  /** Callers that wait; more are refused. */
  waiting: number;
  /** How long a caller waits; null: however long it takes. */
  maxWaitMs: number | null;
}

/** Places that are held at once, and callers that wait for one, first in, first out. */
export function createWaitingLine() {
  let held = 0;
  const waiting: (() => void)[] = [];

  /** The function that gives one place back, at its first call. */
  function place(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      // The next caller takes this place, so `held` does not change.
      const next = waiting.shift();
      if (next) next();
      else held -= 1;
    };
  }

  /** @returns whether a place was handed over in time */
  function wait(maxWaitMs: number | null, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout);
        signal?.removeEventListener("abort", abort);
      };
      const start = () => {
        settle();
        resolve(true);
      };
      const leave = () => {
        settle();
        waiting.splice(waiting.indexOf(start), 1);
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const giveUp = () => {
        leave();
        resolve(false);
      };
      const timeout = maxWaitMs === null ? undefined : setTimeout(giveUp, maxWaitMs);
      waiting.push(start);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    /** Places that are held now. */
    get held() {
      return held;
    },
    /** Callers that wait now. */
    get waiting() {
      return waiting.length;
    },
    /**
     * Takes a place, or waits for one.
     *
     * @returns a function that gives the place back and must be called; null if too many wait, or this caller has waited
     *   too long
     * @throws the signal's reason if it aborts before the caller has a place
     */
    async take(limits: LineLimits, signal?: AbortSignal): Promise<(() => void) | null> {
      signal?.throwIfAborted();
      if (held < limits.running) held += 1;
      else if (waiting.length >= limits.waiting || !(await wait(limits.maxWaitMs, signal))) return null;
      return place();
    },
  };
}

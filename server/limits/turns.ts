/** Limits how many requests of one subject are handled at once, in this process. A request that waits holds no connection. */
export interface Turns {
  /**
   * Waits for a turn.
   *
   * @param key the subject, including the tenant
   * @returns a function that ends the turn and must be called; null if too many wait, or this one has waited too long
   */
  take(key: string, limits: TurnLimits): Promise<(() => void) | null>;
}

export interface TurnLimits {
  /** Requests that are handled at once. */
  running: number;
  /** Requests that wait for a turn; more are refused. */
  waiting: number;
}

const MAX_WAIT_MS = 3_000;

interface Subject {
  running: number;
  /** Starts the waiting requests, oldest first. */
  waiting: (() => void)[];
}

/** @param enabled false: every turn is granted at once */
export function createTurns({ enabled }: { enabled: boolean }): Turns {
  const subjects = new Map<string, Subject>();

  function end(key: string, subject: Subject): void {
    // The next request takes this turn, so `running` does not change.
    const next = subject.waiting.shift();
    if (next) next();
    else subject.running -= 1;
    if (subject.running === 0) subjects.delete(key);
  }

  function once(key: string, subject: Subject): () => void {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      end(key, subject);
    };
  }

  return {
    async take(key, { running, waiting }) {
      if (!enabled) return () => {};
      const subject = subjects.get(key) ?? { running: 0, waiting: [] };
      subjects.set(key, subject);
      if (subject.running < running) {
        subject.running += 1;
        return once(key, subject);
      }
      if (subject.waiting.length >= waiting) return null;
      const granted = await new Promise<boolean>((resolve) => {
        const start = () => {
          clearTimeout(timeout);
          resolve(true);
        };
        const timeout = setTimeout(() => {
          subject.waiting.splice(subject.waiting.indexOf(start), 1);
          resolve(false);
        }, MAX_WAIT_MS);
        subject.waiting.push(start);
      });
      return granted ? once(key, subject) : null;
    },
  };
}

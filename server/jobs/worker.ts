/** Does jobs as they come, a few at once. */
export interface Worker {
  /** Looks for due jobs now. Cheap, and safe to call at any rate: calls during a look are one more look. */
  wake(): void;
  /** Takes nothing new and resolves when the last running job has ended. */
  stop(): Promise<void>;
}

interface WorkerOptions<Row> {
  concurrency: number;
  /** How often it looks unasked, in milliseconds: for retries that are due and for jobs of other processes. */
  interval: number;
  /** Claims up to `limit` due jobs. */
  take(limit: number): Promise<Row[]>;
  /** Does one and settles it. Must not reject. */
  perform(row: Row): Promise<void>;
  /** Told when jobs cannot be claimed, once per outage, and with `undefined` when they can again. */
  onOutage(error: unknown): void;
}

export function startWorker<Row>({
  concurrency,
  interval,
  take,
  perform,
  onOutage,
}: WorkerOptions<Row>): Worker {
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;
  let lookAgain = false;
  let moreMayWait = false;
  let outage = false;
  let stopped = false;

  async function look(): Promise<void> {
    do {
      lookAgain = false;
      const free = concurrency - running.size;
      if (free <= 0) {
        moreMayWait = true;
        return;
      }
      const rows = await take(free);
      moreMayWait = rows.length === free;
      for (const row of rows) {
        const job = perform(row).finally(() => {
          running.delete(job);
          if (moreMayWait) wake();
        });
        running.add(job);
      }
    } while (lookAgain && !stopped);
  }

  function wake(): void {
    if (stopped) return;
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = look()
      .then(
        () => {
          if (outage) onOutage(undefined);
          outage = false;
        },
        (error: unknown) => {
          if (!outage) onOutage(error);
          outage = true;
        },
      )
      .finally(() => {
        looking = undefined;
        // A call between the last look and here must not be lost; during an outage the interval is soon enough.
        if (lookAgain && !outage) wake();
      });
  }

  const timer = setInterval(wake, interval);
  wake();
  return {
    wake,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
      await Promise.all(running);
    },
  };
}

/** Claims due jobs and runs a limited number of them concurrently. */
export type Worker = ReturnType<typeof startWorker>;

interface WorkerOptions<Row> {
  concurrency: number;
  /** Milliseconds between searches without `wake`, for retries and for jobs of other processes. */
  intervalMs: number;
  /** Claims and returns up to `limit` due jobs. */
  take(limit: number): Promise<Row[]>;
  /** Runs and settles a job. Must not reject. */
  perform(row: Row): Promise<void>;
  /** Called with the error once per outage, when jobs cannot be claimed, and with `undefined` at its end. */
  onOutage(error: unknown): void;
}

/** Starts a worker, which looks for due jobs at once. */
export function startWorker<Row>({ concurrency, intervalMs, take, perform, onOutage }: WorkerOptions<Row>) {
  const running = new Set<Promise<void>>();
  let searching: Promise<void> | undefined;
  let searchAgain = false;
  let moreMayBeDue = false;
  let outage = false;
  let stopped = false;

  async function search(): Promise<void> {
    do {
      searchAgain = false;
      const free = concurrency - running.size;
      if (free <= 0) {
        moreMayBeDue = true;
        return;
      }
      const rows = await take(free);
      moreMayBeDue = rows.length === free;
      for (const row of rows) {
        const job = perform(row).finally(() => {
          running.delete(job);
          if (moreMayBeDue) wake();
        });
        running.add(job);
      }
    } while (searchAgain && !stopped);
  }

  /** Looks for due jobs now. May be called at any rate: all calls during a search cause one further search. */
  function wake(): void {
    if (stopped) return;
    if (searching) {
      searchAgain = true;
      return;
    }
    searching = search()
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
        searching = undefined;
        // A call after the last search must not be lost. During an outage the next interval suffices.
        if (searchAgain && !outage) wake();
      });
  }

  const timer = setInterval(wake, intervalMs);
  wake();
  return {
    wake,
    /** Claims no more jobs and waits for the running ones. */
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(timer);
      await searching;
      await Promise.all(running);
    },
  };
}

import { unmeasured } from "../observability/waits.ts";

/** Claims due jobs and runs a limited number of them concurrently. */
export type Worker = ReturnType<typeof startWorker>;

interface WorkerOptions<Row> {
  concurrency: number;
  /** Milliseconds between searches without `wake`, for retries and for jobs of other processes. */
  intervalMs: number;
  /**
   * Milliseconds between searches while jobs run, so that one search finds several. None waits while no job runs, or if
   * half of the jobs have ended and more were due. Default: 0.
   */
  gatherMs?: number;
  /** Claims and returns up to `limit` due jobs. */
  take(limit: number): Promise<Row[]>;
  /** Runs and settles a job. Must not reject. */
  perform(row: Row): Promise<void>;
  /** Called with the error once per outage, when jobs cannot be claimed, and with `undefined` at its end. */
  onOutage(error: unknown): void;
}

/** Starts a worker, which looks for due jobs at once. */
export function startWorker<Row>(options: WorkerOptions<Row>) {
  const { concurrency, intervalMs, gatherMs = 0, take, perform, onOutage } = options;
  const running = new Set<Promise<void>>();
  let searching: Promise<void> | undefined;
  let searchAgain = false;
  let moreMayBeDue = false;
  let outage = false;
  let stopped = false;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let gathering: NodeJS.Timeout | undefined;
  let haveEnded = false;

  async function search(): Promise<void> {
    const free = concurrency - running.size;
    if (free <= 0) {
      moreMayBeDue = true;
      return;
    }
    searchedAt = performance.now();
    const rows = await take(free);
    moreMayBeDue = rows.length === free;
    for (const row of rows) {
      const job = perform(row).finally(() => {
        running.delete(job);
        // Once for jobs that end together, so that one search finds as many.
        if (haveEnded) return;
        haveEnded = true;
        setImmediate(() => {
          haveEnded = false;
          if (moreMayBeDue || gathering) wake();
        });
      });
      running.add(job);
    }
  }

  /** Returns the milliseconds until the next search. */
  function pauseMs(): number {
    if (running.size === 0 || (moreMayBeDue && running.size <= concurrency / 2)) return 0;
    return Math.ceil(searchedAt + gatherMs - performance.now());
  }

  /**
   * Looks for due jobs, now or when `gatherMs` have passed. May be called at any rate: all calls during a search or a
   * pause cause one further search. What it finds is no part of the work that calls it.
   */
  const wake = () => unmeasured(searchSoon);

  function searchSoon(): void {
    if (stopped) return;
    if (searching) {
      searchAgain = true;
      return;
    }
    const pause = pauseMs();
    if (pause > 0) {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        wake();
      }, pause);
      return;
    }
    clearTimeout(gathering);
    gathering = undefined;
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
        // During an outage the next interval suffices.
        const isDue = searchAgain && !outage;
        searchAgain = false;
        if (isDue) wake();
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
      clearTimeout(gathering);
      await searching;
      await Promise.all(running);
    },
  };
}

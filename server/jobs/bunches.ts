interface BunchOptions<Item, Result> {
  /** Items of one write. So many are written without waiting for more. */
  max: number;
  /** Milliseconds that an item waits for others while there is work whose items may be written with it. */
  waitMs: number;
  /** Writes items. Must not reject. */
  write(items: readonly Item[]): Promise<Result>;
}

/**
 * Writes what several pieces of work result in together, one write at a time. The result of work that has no other beside
 * it is written at once.
 */
export function createBunches<Item, Result = void>({ max, waitMs, write }: BunchOptions<Item, Result>) {
  const collected: { item: Item; done: (result: Result) => void }[] = [];
  let working = 0;
  let writing = false;
  let timer: NodeJS.Timeout | undefined;
  let hasWaited = false;

  function writeIfDue(): void {
    if (writing || collected.length === 0) return;
    if (working > 0 && collected.length < max && !hasWaited) {
      timer ??= setTimeout(() => {
        hasWaited = true;
        writeIfDue();
      }, waitMs);
      return;
    }
    clearTimeout(timer);
    timer = undefined;
    hasWaited = false;
    writing = true;
    const bunch = collected.splice(0, max);
    void write(bunch.map(({ item }) => item)).then((result) => {
      writing = false;
      for (const { done } of bunch) done(result);
      writeIfDue();
    });
  }

  return {
    /**
     * Runs work and writes its item; resolves when that is written.
     *
     * @param work must not reject; null: nothing is to be written
     * @returns the result of the write; undefined if nothing was to be written
     */
    async run(work: () => Promise<Item | null>): Promise<Result | undefined> {
      working += 1;
      const item = await work();
      working -= 1;
      return await new Promise((resolve) => {
        if (item === null) resolve(undefined);
        else collected.push({ item, done: resolve });
        writeIfDue();
      });
    },
  };
}

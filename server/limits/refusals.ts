/**
 * Remembers in this process which counters are used up, so that a client that goes on is refused without the database.
 * Times are in milliseconds since 1970.
 */
export interface Refusals {
  /** Records that a request was refused because of a counter, which starts anew at `until`. */
  record(key: string, until: number): void;
  /** @returns until when requests that one of these counters limits are refused; null if they are not */
  until(keys: readonly string[], now: number): number | null;
}

/** Refusals of one counter that the database decides, and that show the state; people do not reach it. */
const MAX_DECIDED = 10;

/** A bound of memory. A counter that is forgotten is refused by the database again. */
const MAX_COUNTERS = 10_000;

export function createRefusals(): Refusals {
  const counters = new Map<string, { until: number; refused: number }>();
  return {
    record(key, until) {
      const known = counters.get(key);
      if (counters.size >= MAX_COUNTERS && !known) counters.clear();
      counters.set(key, { until, refused: known?.until === until ? known.refused + 1 : 1 });
    },
    until(keys, now) {
      const ends = keys.flatMap((key) => {
        const known = counters.get(key);
        if (known && known.until <= now) counters.delete(key);
        return known && known.until > now && known.refused >= MAX_DECIDED ? [known.until] : [];
      });
      return ends.length > 0 ? Math.max(...ends) : null;
    },
  };
}

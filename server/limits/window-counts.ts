/**
 * Counts of keys in fixed windows, in the memory of this process. A window begins with the first count of its key.
 *
 * @param clock milliseconds since 1970
 */
export function createWindowCounts(seconds: number, clock = () => Date.now()) {
  const windows = new Map<string, { count: number; end: number }>();

  /** Begins a window of another length for a key, with a count. */
  function set(key: string, count: number, length: number): void {
    const now = clock();
    // Windows stand in the order of their beginnings, and none is longer than others by much: the first ones end first.
    for (const [old, { end }] of windows) {
      if (end > now) break;
      windows.delete(old);
    }
    windows.delete(key);
    windows.set(key, { count, end: now + length * 1000 });
  }

  /** How often a key was counted in its window, and the rest of the window. */
  function present(key: string): { count: number; endsInMs: number } {
    const { count = 0, end = 0 } = windows.get(key) ?? {};
    const endsInMs = end - clock();
    return endsInMs > 0 ? { count, endsInMs } : { count: 0, endsInMs: 0 };
  }

  return {
    set,
    present,
    /** Windows in memory. */
    get size() {
      return windows.size;
    },
    /**
     * Counts a key.
     *
     * @returns `count`: how often it was counted in its window, this time included; `endsInMs`: the rest of the window
     */
    count(key: string): { count: number; endsInMs: number } {
      const window = windows.get(key);
      const endsInMs = (window?.end ?? 0) - clock();
      if (!window || endsInMs <= 0) {
        set(key, 1, seconds);
        return { count: 1, endsInMs: seconds * 1000 };
      }
      window.count += 1;
      return { count: window.count, endsInMs };
    },
  };
}

/** Refusals that the database decides, and that show the state; people do not reach it. */
const MAX_DECIDED = 10;

/** A bound of memory. A client that is forgotten is refused by the database again. */
const MAX_CLIENTS = 10_000;

export type Refusals = ReturnType<typeof createRefusals>;

/**
 * Remembers in this process which clients go on although a limit refuses them, to refuse them without the database.
 * Times are in milliseconds since 1970.
 */
export function createRefusals() {
  const clients = new Map<string, { until: number; refused: number; kinds: Set<string> }>();
  return {
    /**
     * Records that a request of a client was refused by a limit, which starts anew at `until`.
     *
     * @param what what was refused, from a closed list
     * @returns whether it is the first of these until then, as far as this process knows
     */
    record(client: string, until: number, what = ""): boolean {
      const known = clients.get(client);
      if (clients.size >= MAX_CLIENTS && !known) clients.clear();
      const { refused, kinds } = known?.until === until ? known : { refused: 0, kinds: new Set<string>() };
      const isFirst = !kinds.has(what);
      clients.set(client, { until, refused: refused + 1, kinds: kinds.add(what) });
      return isFirst;
    },
    /** @returns until when requests of the client are refused; null if they are not */
    until(client: string, now: number): number | null {
      const known = clients.get(client);
      if (!known) return null;
      if (known.until <= now) clients.delete(client);
      return known.until > now && known.refused >= MAX_DECIDED ? known.until : null;
    },
  };
}

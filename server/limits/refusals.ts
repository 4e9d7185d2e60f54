/**
 * Remembers in this process which clients go on although a limit refuses them, to refuse them without the database.
 * Times are in milliseconds since 1970.
 */
export interface Refusals {
  /** Records that a request of a client was refused by a limit, which starts anew at `until`. */
  record(client: string, until: number): void;
  /** @returns until when requests of the client are refused; null if they are not */
  until(client: string, now: number): number | null;
}

/** Refusals that the database decides, and that show the state; people do not reach it. */
const MAX_DECIDED = 10;

/** A bound of memory. A client that is forgotten is refused by the database again. */
const MAX_CLIENTS = 10_000;

export function createRefusals(): Refusals {
  const clients = new Map<string, { until: number; refused: number }>();
  return {
    record(client, until) {
      const known = clients.get(client);
      if (clients.size >= MAX_CLIENTS && !known) clients.clear();
      clients.set(client, { until, refused: known?.until === until ? known.refused + 1 : 1 });
    },
    until(client, now) {
      const known = clients.get(client);
      if (!known) return null;
      if (known.until <= now) clients.delete(client);
      return known.until > now && known.refused >= MAX_DECIDED ? known.until : null;
    },
  };
}

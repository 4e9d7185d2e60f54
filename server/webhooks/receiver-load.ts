import { MAX_SOCKETS } from "./receiver-client.ts";

export type ReceiverLoad = ReturnType<typeof createReceiverLoad>;

interface Receiver {
  tenantId: string;
  webhook: string;
}

/** Deliveries that a process has in hand. */
export const MAX_IN_HAND = 128;

/** Those to receivers that are slow, failing or unknown, so that places for the others remain. */
const MAX_SLOW_IN_HAND = 24;

/** Those to one receiver: as many as it has connections, so that none waits for another. */
const MAX_FOR_ONE = MAX_SOCKETS;

/** Receivers that are remembered. */
const MAX_RECEIVERS = 10_000;

/**
 * Counts how many deliveries each receiver has in hand, and says how many more it may get by what it did last. A receiver
 * begins with one place; each fast answer doubles, any other ends that.
 */
export function createReceiverLoad() {
  const receivers = new Map<string, Receiver & { inHand: number; places: number }>();
  const isFast = ({ places }: { places: number }) => places > 1;
  const entryOf = ({ tenantId, webhook }: Receiver) => {
    const key = `${tenantId} ${webhook}`;
    const entry = receivers.get(key) ?? { tenantId, webhook, inHand: 0, places: 1 };
    receivers.delete(key);
    receivers.set(key, entry);
    return entry;
  };
  return {
    /** The free places of each receiver in use or known to be fast. */
    limits: () =>
      [...receivers.values()]
        .filter((entry) => entry.inHand > 0 || isFast(entry))
        .map((entry) => ({
          tenant_id: entry.tenantId,
          webhook: entry.webhook,
          free: Math.max(0, entry.places - entry.inHand),
          fast: isFast(entry),
        })),
    /** Places for receivers that are slow, failing or unknown. */
    freeSlow: () => {
      const slow = [...receivers.values()].filter((entry) => !isFast(entry));
      return Math.max(0, MAX_SLOW_IN_HAND - slow.reduce((sum, { inHand }) => sum + inHand, 0));
    },
    begin(receiver: Receiver): void {
      entryOf(receiver).inHand += 1;
      const [oldest] = receivers;
      if (receivers.size > MAX_RECEIVERS && oldest?.[1].inHand === 0) receivers.delete(oldest[0]);
    },
    /**
     * @param fast whether the receiver accepted the event in little time
     * @returns whether all its places were taken, so that more may be due for it. A slow one has a single place, so this
     *   holds for each that slow receivers share
     */
    end(receiver: Receiver, fast: boolean): boolean {
      const entry = entryOf(receiver);
      const wasFull = entry.inHand >= entry.places;
      entry.inHand -= 1;
      entry.places = fast ? Math.min(MAX_FOR_ONE, 2 * entry.places) : 1;
      return wasFull;
    },
  };
}

/** A reading of a provider's keys that a failed verification caused. */
export interface KeyReading {
  /** Milliseconds since 1970. */
  at: number;
  done: Promise<void>;
}

/** Least time between two such readings, so that forged answers cost a provider little. */
const READING_INTERVAL_MS = 10_000;

/** Size of the table; the oldest entries are evicted. */
const MAX_PROVIDERS = 1000;

/**
 * Reads the keys of a provider again after a verification has failed, because the provider may have changed them.
 * Within ten seconds of the last such reading it only waits for that one, so that concurrent callers share it.
 *
 * @param readings by tenant and provider
 * @param time of the request, in milliseconds since 1970
 * @param read stores the keys where the next verification finds them; does not throw
 */
export async function readKeysAgain(
  readings: Map<string, KeyReading>,
  provider: string,
  time: number,
  read: () => Promise<void>,
): Promise<void> {
  const last = readings.get(provider);
  if (last && time - last.at < READING_INTERVAL_MS) return last.done;
  const reading = { at: time, done: read() };
  readings.delete(provider);
  readings.set(provider, reading);
  for (const oldest of [...readings.keys()].slice(0, -MAX_PROVIDERS)) readings.delete(oldest);
  return reading.done;
}

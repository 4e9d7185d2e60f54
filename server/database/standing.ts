import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { OutgrownError, outgrownBy, type Release } from "./releases.ts";

/** Whether this version may still use the database. */
export interface Standing {
  /** The release that it may not run beside; null while it may serve. It stays that way until the process ends. */
  readonly outgrownBy: Release | null;
  /** Aborts when the database has outgrown this version. Work in the background begins nothing new then. */
  readonly outgrown: AbortSignal;
  /** Heeds the releases that a renewal of the lease has read. */
  heed(releases: readonly Release[]): void;
  /**
   * Reads them again if no renewal did for long: a serverless platform stops a process between requests, and its timers
   * with it. Resolves after `REFRESH_TIMEOUT_MS` at the latest, and never fails: a database that hangs is for the request
   * to find out.
   */
  refresh(): Promise<void> | undefined;
  /** Sets what `refresh` calls. */
  renewBy(renew: () => Promise<void>): void;
}

/** A renewal is missed after this time. */
const STALE_AFTER_MS = 30_000;

/** How long a request waits for the releases. */
const REFRESH_TIMEOUT_MS = 1_000;

/** @param version the version of this process */
export function createStanding(
  { version }: Pick<Release, "version">,
  log: Pick<Logger, "error" | "warn">,
  now: () => number = Date.now,
): Standing {
  const outgrown = new AbortController();
  let by: Release | null = null;
  let heededAt = now();
  let renew: (() => Promise<void>) | null = null;
  let renewing: Promise<void> | undefined;

  return {
    get outgrownBy() {
      return by;
    },
    outgrown: outgrown.signal,
    heed(releases) {
      heededAt = now();
      if (by) return;
      by = outgrownBy(version, releases);
      if (!by) return;
      log.error(
        { version, used_by: by.version, oldest: by.oldestBeside },
        new OutgrownError({ version }, by).message,
      );
      outgrown.abort();
    },
    refresh() {
      if (!renew || now() - heededAt < STALE_AFTER_MS) return undefined;
      renewing ??= renew()
        .catch((error: unknown) => log.warn({ err: error }, "renewing the lease of this server failed"))
        .finally(() => {
          // A database that does not answer is not asked again by each request.
          heededAt = now();
          renewing = undefined;
        });
      return Promise.race([renewing, wait(REFRESH_TIMEOUT_MS, undefined, { ref: false })]);
    },
    renewBy(given) {
      renew = given;
    },
  };
}

import { createHmac, scryptSync } from "node:crypto";
import { hash as argon2, parseOptions, verify as verifyArgon2 } from "@node-rs/argon2";
import type { Config } from "../config/schema.ts";

/** Hashes passwords and compares them with hashes, a few at a time. */
export interface PasswordHasher {
  /** Whether nobody more may wait now: the next call would throw `HashQueueFullError`. */
  readonly full: boolean;
  /**
   * @returns the hash to store: a PHC string, after `pepper:<key id>` when one is configured
   * @throws HashQueueFullError when too many wait; the signal's reason when it aborts before the turn comes
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /**
   * Compares. Takes the same time whether there is a hash or none.
   *
   * @param stored the stored hash; null for an account that has no password, or for no account
   * @returns `outdated` when it should be hashed again: other parameters, or another pepper than configured. A hash
   *   whose pepper is no longer configured cannot be right any more: `ok` is false and `outdated` true
   * @throws as `hash` does
   */
  verify(
    password: string,
    stored: string | null,
    signal?: AbortSignal,
  ): Promise<{ ok: boolean; outdated: boolean }>;
}

/** So many wait for their turn that a new one would not be served in time. */
export class HashQueueFullError extends Error {
  constructor() {
    super("too many passwords wait to be hashed");
  }
}

/**
 * Hashes run in libuv's pool, which has four threads by default and does the work of files and name lookups too.
 * Two leave it room, and are as many as a small machine has cores.
 */
const concurrency = 2;

/** Makes the one hasher of a process: argon2id (RFC 9106) with one lane over the password in NFC. */
export function createPasswordHasher(config: Config["password"]): PasswordHasher {
  const cost: Cost = { memory: config.hash.memory, passes: config.hash.passes };
  const options = { memoryCost: cost.memory, timeCost: cost.passes, parallelism: 1 };
  const pepper = config.pepper === undefined ? null : { key: config.pepper, id: pepperId(config.pepper) };
  const dummy = dummyHash(cost);
  const { run, isFull } = queue(concurrency, config.hash.queue);

  /** What argon2 is given: the password, or its keyed digest, so that the database alone is no help to a guesser. */
  const material = (password: string, key: string | null) => {
    const normal = password.normalize("NFC");
    return key === null ? normal : createHmac("sha256", key).update(normal, "utf8").digest("base64url");
  };

  return {
    get full() {
      return isFull();
    },

    hash: (password, signal) =>
      run(async () => {
        const phc = await argon2(material(password, pepper?.key ?? null), options);
        return pepper ? `pepper:${pepper.id}${phc}` : phc;
      }, signal),

    verify: (password, stored, signal) =>
      run(async () => {
        const { pepperId: id, phc } = split(stored);
        const key = id !== null && id === pepper?.id ? pepper.key : null;
        const known = phc !== null && (id === null || key !== null);
        const against = known ? phc : dummy;
        const costThen = costOf(against);
        const matches = await verifyArgon2(against, material(password, key));
        // A hash of cheaper days must not answer sooner than no hash does.
        const missing = cost.memory * cost.passes - costThen.memory * costThen.passes;
        if (missing > 0) {
          const memoryCost = Math.max(8, Math.ceil(missing / cost.passes));
          await argon2("", { memoryCost, timeCost: cost.passes, parallelism: 1 });
        }
        const sameCost = costThen.memory === cost.memory && costThen.passes === cost.passes;
        // Half a surrogate pair is hashed as U+FFFD, and must not pass for it.
        const ok = known && matches && password.isWellFormed();
        return { ok, outdated: phc !== null && (!sameCost || id !== (pepper?.id ?? null)) };
      }, signal),
  };
}

interface Cost {
  /** KiB */
  memory: number;
  passes: number;
}

function costOf(phc: string): Cost {
  const { memoryCost, timeCost } = parseOptions(phc);
  return { memory: memoryCost, passes: timeCost };
}

/** A well-formed hash that no password has: one of this cost takes the time of a real one. */
function dummyHash({ memory, passes }: Cost): string {
  const zeros = (size: number) => Buffer.alloc(size).toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${zeros(16)}$${zeros(32)}`;
}

function split(stored: string | null): { pepperId: string | null; phc: string | null } {
  const match = stored === null ? null : /^(?:pepper:([A-Za-z0-9_-]+))?(\$argon2.*)$/.exec(stored);
  return { pepperId: match?.[1] ?? null, phc: match?.[2] ?? null };
}

/** Names a pepper without helping to find it: 48 bits of a slow digest. */
function pepperId(pepper: string): string {
  return scryptSync(pepper, "stile password pepper", 6).toString("base64url");
}

/** At most `running` tasks at once, and at most `waiting` more in line, first come, first served. */
function queue(running: number, waiting: number) {
  let active = 0;
  const line: (() => void)[] = [];

  const isFull = () => active >= running && line.length >= waiting;

  async function run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (isFull()) throw new HashQueueFullError();
    if (active >= running) await turn(signal);
    else active += 1;
    try {
      return await task();
    } finally {
      // Whoever is next takes over this place, so `active` does not change.
      const next = line.shift();
      if (next) next();
      else active -= 1;
    }
  }

  function turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        line.splice(line.indexOf(start), 1);
        reject(signal?.reason);
      };
      line.push(start);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  return { run, isFull };
}

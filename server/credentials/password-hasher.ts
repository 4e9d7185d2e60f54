import { createHmac, scryptSync } from "node:crypto";
import { hash as argon2, parseOptions, verify as verifyArgon2 } from "@node-rs/argon2";
import type { Config } from "../config/schema.ts";
import { recognizeEveryCopy } from "../lib/every-copy.ts";
import { OverloadedError } from "../lib/overloaded-error.ts";

/** Hashes and verifies passwords, with limited concurrency. */
export interface PasswordHasher {
  /** Whether the queue is full: the next call would throw `HashQueueFullError`. */
  readonly full: boolean;
  /**
   * @returns the hash to store: a PHC string, prefixed with `pepper:<key id>` if a pepper is configured
   * @throws HashQueueFullError if too many calls wait, or this one for too long; the signal's reason if it aborts before the call starts
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /**
   * Verifies a password. Takes the same time with and without a hash.
   *
   * @param stored the stored hash; null if there is no account or it has no password
   * @returns `outdated`: the hash has other parameters or another pepper than configured and should be renewed. A hash
   *   whose pepper is no longer configured cannot match: `ok` is false and `outdated` true
   * @throws as `hash` does
   */
  verify(
    password: string,
    stored: string | null,
    signal?: AbortSignal,
  ): Promise<{ ok: boolean; outdated: boolean }>;
}

/** The queue has reached `password.hash.queue`, or a call has waited too long in it. */
export class HashQueueFullError extends OverloadedError {
  static {
    recognizeEveryCopy(HashQueueFullError, "HashQueueFullError");
  }
  constructor() {
    super("too many passwords are waiting to be hashed");
  }
}

/** A call that waits longer in the queue is rejected: an answer that a retry is possible is better than a late one. */
const MAX_WAIT_MS = 3_000;

/**
 * Hashes run in libuv's thread pool, which has four threads by default and also serves files and DNS look-ups. Two
 * leave room for those.
 */
const CONCURRENCY = 2;

/** Creates the hasher of a process: argon2id (RFC 9106) with one lane over the password in NFC. */
export function createPasswordHasher(config: Config["password"]): PasswordHasher {
  const cost: Cost = { memory: config.hash.memory, passes: config.hash.passes };
  const options = { memoryCost: cost.memory, timeCost: cost.passes, parallelism: 1 };
  const pepper = config.pepper === undefined ? null : { key: config.pepper, id: pepperId(config.pepper) };
  const dummy = dummyHash(cost);
  const { run, isFull } = queue(CONCURRENCY, config.hash.queue);

  /** The input of argon2: the password, or its HMAC, so that the database alone does not allow offline guessing. */
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
        const storedCost = costOf(against);
        const matches = await verifyArgon2(against, material(password, key));
        // A hash of lower cost must not be faster than no hash.
        const missing = cost.memory * cost.passes - storedCost.memory * storedCost.passes;
        if (missing > 0) {
          const memoryCost = Math.max(8, Math.ceil(missing / cost.passes));
          await argon2("", { memoryCost, timeCost: cost.passes, parallelism: 1 });
        }
        const sameCost = storedCost.memory === cost.memory && storedCost.passes === cost.passes;
        // A lone surrogate is hashed as U+FFFD and must not match it.
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

/** A well-formed hash that no password matches; verifying it takes as long as verifying a real one. */
function dummyHash({ memory, passes }: Cost): string {
  const zeros = (size: number) => Buffer.alloc(size).toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${zeros(16)}$${zeros(32)}`;
}

function split(stored: string | null): { pepperId: string | null; phc: string | null } {
  const match = stored === null ? null : /^(?:pepper:([A-Za-z0-9_-]+))?(\$argon2.*)$/.exec(stored);
  return { pepperId: match?.[1] ?? null, phc: match?.[2] ?? null };
}

/** Identifies a pepper without helping to guess it: 48 bits of a slow digest. */
function pepperId(pepper: string): string {
  return scryptSync(pepper, "stile password pepper", 6).toString("base64url");
}

/** Runs at most `running` tasks concurrently and queues at most `waiting` more, first in, first out. */
function queue(running: number, waiting: number) {
  let active = 0;
  const waitingTasks: (() => void)[] = [];

  const isFull = () => active >= running && waitingTasks.length >= waiting;

  async function run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (isFull()) throw new HashQueueFullError();
    if (active >= running) await waitForTurn(signal);
    else active += 1;
    try {
      return await task();
    } finally {
      // The next task takes this slot, so `active` does not change.
      const next = waitingTasks.shift();
      if (next) next();
      else active -= 1;
    }
  }

  function waitForTurn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout);
        signal?.removeEventListener("abort", abort);
      };
      const start = () => {
        settle();
        resolve();
      };
      const leave = (reason: unknown) => {
        settle();
        waitingTasks.splice(waitingTasks.indexOf(start), 1);
        reject(reason);
      };
      const abort = () => leave(signal?.reason);
      const timeout = setTimeout(() => leave(new HashQueueFullError()), MAX_WAIT_MS);
      waitingTasks.push(start);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  return { run, isFull };
}

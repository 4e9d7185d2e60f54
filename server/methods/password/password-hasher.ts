import { createHmac, scryptSync } from "node:crypto";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { hash as argon2, parseOptions, verify as verifyArgon2 } from "@node-rs/argon2";
import type { Config } from "../../config/schema.ts";
import { recognizeEveryCopy } from "../../lib/every-copy.ts";
import { OverloadedError } from "../../lib/overloaded-error.ts";
import { taskQueue } from "../../lib/task-queue.ts";
import { waitingFor } from "../../observability/waits.ts";
import { type ImportedHash, parseImportedHash, verifyImportedHash } from "./imported-hashes.ts";

/** Hashes and verifies passwords, with limited concurrency. */
export interface PasswordHasher {
  /** Whether the queue is full: the next call would throw `HashQueueFullError`. */
  readonly full: boolean;
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /**
   * @returns the hash to store: a PHC string, prefixed with `pepper:<key id>` if a pepper is configured
   * @throws HashQueueFullError if too many calls wait, or this one for too long; the signal's reason if it aborts before the call starts
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /**
   * Verifies a password. A wrong one takes the same time with and without a hash, and as long as one of the slowest
   * imported hashes that this process has verified of late.
   *
   * @param stored the stored hash, which may be an imported one; null if there is no account or it has no password
   * @returns `outdated`: the hash has another scheme, other parameters or another pepper than configured and should be
   *   renewed with this password. A hash whose pepper is no longer configured cannot match: `ok` is false and `outdated`
   *   true. `tooCostly`, if the hash was not computed: which bound it exceeds
   * @throws as `hash` does
   */
  verify(password: string, stored: string | null, signal?: AbortSignal): Promise<Verification>;
}

export interface Verification {
  ok: boolean;
  outdated: boolean;
  tooCostly?: string;
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

/** Where no number is given: half of the four threads that libuv's pool has by default, which serves files and DNS too. */
const CONCURRENCY = 2;

/** Clock and timer, which tests replace. */
export interface HasherTime {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
}

const systemTime: HasherTime = { now: () => performance.now(), wait: (milliseconds) => sleep(milliseconds) };

/** A wrong password waits no longer for the duration of slower hashes. */
const MAX_EQUALISING_MS = 3_000;

/** Part of the difference by which the duration that wrong passwords are extended to follows a faster hash. */
const EQUALISING_DECAY = 0.02;

/**
 * Creates the hasher of a process: argon2id (RFC 9106) with one lane over the password in NFC.
 *
 * @param concurrency hashes that are computed at once
 */
export function createPasswordHasher(
  config: Config["password"],
  time = systemTime,
  concurrency = CONCURRENCY,
): PasswordHasher {
  const cost: Cost = { memory: config.hash.memory, passes: config.hash.passes };
  const options = { memoryCost: cost.memory, timeCost: cost.passes, parallelism: 1 };
  const pepper = config.pepper === undefined ? null : { key: config.pepper, id: pepperId(config.pepper) };
  const dummy = dummyHash(cost);
  const queue = taskQueue({
    running: concurrency,
    waiting: config.hash.queue,
    maxWaitMs: MAX_WAIT_MS,
    overloaded: () => new HashQueueFullError(),
  });
  /** How long the last hash of the configured cost took. */
  let ownMs = Number.POSITIVE_INFINITY;
  /** What wrong passwords are extended to: about the duration of the slowest imported hashes; 0 without such. */
  let evenMs = 0;

  /** Runs a task in its turn. What waits for it waits for a hash. */
  const inTurn = <Result>(task: () => Promise<Result>, signal?: AbortSignal) =>
    waitingFor("hash", () => queue.run(task, signal));

  /** The input of argon2: the password, or its HMAC, so that the database alone does not allow offline guessing. */
  const material = (password: string, key: string | null) => {
    const normal = password.normalize("NFC");
    return key === null ? normal : createHmac("sha256", key).update(normal, "utf8").digest("base64url");
  };

  return {
    get full() {
      return queue.isFull();
    },
    get waiting() {
      return queue.waiting;
    },

    hash: (password, signal) =>
      inTurn(async () => {
        const phc = await argon2(material(password, pepper?.key ?? null), options);
        return pepper ? `pepper:${pepper.id}${phc}` : phc;
      }, signal),

    async verify(password, stored, signal) {
      const parsed = stored === null ? null : parseImportedHash(stored, "storage");
      const tooCostly =
        parsed?.ok === false && parsed.reason === "costly" ? parsed.limit : argon2Excess(stored);
      const own = tooCostly === null ? stored : null;
      const { milliseconds, ...verified } = await inTurn(
        () => timed(() => (parsed?.ok ? verifyImported(password, parsed.hash) : verifyOwn(password, own))),
        signal,
      );
      // A signal does not end this wait: the attempt was judged, and must stay counted.
      if (!verified.ok && milliseconds < evenMs) await time.wait(evenMs - milliseconds);
      return { ...verified, ...(tooCostly === null ? {} : { tooCostly }) };
    },
  };

  async function verifyOwn(password: string, stored: string | null) {
    const { pepperId: id, phc } = split(stored);
    const key = id !== null && id === pepper?.id ? pepper.key : null;
    const found = phc === null || (id !== null && key === null) ? null : argon2Cost(phc);
    const against = found && phc !== null ? phc : dummy;
    const storedCost = found ?? { ...cost, isArgon2id: true };
    const startedAt = time.now();
    const matches = await verifyArgon2(against, material(password, key));
    // A hash of lower cost must not be faster than no hash.
    const missing = cost.memory * cost.passes - storedCost.memory * storedCost.passes;
    if (missing > 0) {
      const memoryCost = Math.max(8, Math.ceil(missing / cost.passes));
      await argon2("", { memoryCost, timeCost: cost.passes, parallelism: 1 });
    }
    const took = time.now() - startedAt;
    if (missing < 0) extendWrongOnes(took);
    else ownMs = took;
    const sameCost = storedCost.memory === cost.memory && storedCost.passes === cost.passes;
    // A lone surrogate is hashed as U+FFFD and must not match it.
    const ok = found !== null && matches && password.isWellFormed();
    const current = sameCost && storedCost.isArgon2id && id === (pepper?.id ?? null);
    return { ok, outdated: phc !== null && !current };
  }

  async function verifyImported(password: string, hash: ImportedHash) {
    const startedAt = time.now();
    const { ok: matches, whole } = await verifyImportedHash(hash, password);
    // For PBKDF2 and scrypt a NUL at the end changes nothing: HMAC pads keys with zeros.
    const ok = matches && password.isWellFormed() && !password.includes("\0");
    // A wrong password must not be answered earlier than one for an account without a hash.
    if (!ok && time.now() - startedAt < ownMs) await verifyArgon2(dummy, "");
    extendWrongOnes(time.now() - startedAt);
    return { ok, outdated: whole };
  }

  /** Makes wrong passwords take as long as a hash of another cost took; of faster ones they forget the slowest slowly. */
  function extendWrongOnes(milliseconds: number): void {
    const took = Math.min(milliseconds, MAX_EQUALISING_MS);
    evenMs = took > evenMs ? took : evenMs + (took - evenMs) * EQUALISING_DECAY;
  }

  async function timed<Result extends object>(task: () => Promise<Result>) {
    const startedAt = time.now();
    const result = await task();
    return { ...result, milliseconds: time.now() - startedAt };
  }
}

interface Cost {
  /** KiB */
  memory: number;
  passes: number;
}

/** The cost of a hash, without a pepper's prefix; null if it cannot be verified, because its text is damaged. */
export function argon2Cost(phc: string): (Cost & { isArgon2id: boolean }) | null {
  try {
    const { memoryCost, timeCost } = parseOptions(phc);
    return { memory: memoryCost, passes: timeCost, isArgon2id: phc.startsWith("$argon2id$") };
  } catch {
    return null;
  }
}

/** The greatest cost that `password.hash` may ask for: this server may have made such a hash before it was lowered. */
const MAX_OWN_MEMORY_KIB = 1_048_576;
const MAX_OWN_PASSES = 16;

/** Which bound a stored hash of argon2 exceeds; null for one that may be verified, and for a hash of another scheme. */
function argon2Excess(stored: string | null): string | null {
  const { phc } = split(stored);
  const cost = phc === null ? null : argon2Cost(phc);
  if (!cost) return null;
  if (cost.memory > MAX_OWN_MEMORY_KIB) return `m of argon2 is at most ${MAX_OWN_MEMORY_KIB}`;
  const maxWork = MAX_OWN_MEMORY_KIB * MAX_OWN_PASSES;
  return cost.memory * cost.passes > maxWork ? `m times t of argon2 is at most ${maxWork}` : null;
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

/** What hashes or verifies passwords. */
export interface PasswordHashing {
  passwordHasher: PasswordHasher;
}

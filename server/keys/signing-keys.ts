import type { JsonWebKey } from "node:crypto";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import { type Claims, type ExpectedToken, keyIdOf, type SigningKey, signJwt, verifyJwt } from "./jwt.ts";
import {
  type KeyStoreOptions,
  type LoadedKeys,
  loadKeys,
  makeKey,
  type StoredKey,
  signedFor,
} from "./signing-key-store.ts";

/** A key as `/.well-known/jwks.json` shows it (RFC 7517): the public half alone. */
export type PublishedKey = JsonWebKey & { kid: string; alg: string; use: "sig" };

/** The keys that sign one tenant's tokens for one purpose, held in memory. */
export interface SigningKeys {
  /**
   * The stored keys were read.
   *
   * @throws StartError when one was sealed by a key that is not configured
   */
  loaded: Promise<void>;
  /** There is a key to sign with. The first start makes one, which may take a second; nothing needs to wait for it. */
  ready: Promise<void>;
  /** Signs with the newest key. */
  sign(claims: object, options: { typ: string }): Promise<string>;
  /** @returns the claims, or null whatever is wrong with the token; see `verifyJwt` */
  verify(token: string, expected: ExpectedToken): Promise<Claims | null>;
  /** Keys that a valid token may have been signed by, newest first. */
  jwks(): Promise<{ keys: PublishedKey[] }>;
}

/** How old, in milliseconds, what this process knows of the keys may be. */
const staleAfter = { signing: 60_000, publishing: 1_000 };

/** The names of keys in tokens come from anybody, so unknown ones cause no more than one look per so many milliseconds. */
const lookEvery = 1_000;

/**
 * Reads the keys of a tenant and makes one when there is none by the first secret key and the configured algorithm.
 * Other processes may make one too: their keys are found when needed.
 */
export function createSigningKeys(options: KeyStoreOptions & { log: Logger }): SigningKeys {
  const { vault, tenant, purpose, log } = options;
  let keys = new Map<string, StoredKey>();
  let signer: SigningKey | null = null;
  let reads = 0;
  let newestRead = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<LoadedKeys> {
    const turn = ++reads;
    readAt = performance.now();
    const found = await loadKeys(options);
    // An answer that was overtaken may lack the newest key.
    if (turn < newestRead) return found;
    newestRead = turn;
    keys = new Map(found.keys.map((key) => [key.id, key]));
    // A process that cannot unseal the newest key goes on with the one it has, as long as that is published.
    signer = found.signer ?? (signer && keys.has(signer.id) ? signer : null);
    return found;
  }

  const prepare = singleFlight(async () => {
    const found = await read();
    refuseUnknownSealers(found);
    const current =
      found.signer?.sealedBy === vault.keyIds[0] &&
      found.signer?.algorithm === signedFor[purpose](tenant.config).algorithm;
    if (current) return;
    if (await makeKey(options)) log.info("a signing key was made");
    await read();
  });

  /** Reads again unless that was done lately. While the database cannot be asked, what is known serves. */
  async function refresh(milliseconds: number): Promise<void> {
    if (performance.now() - readAt < milliseconds) return;
    try {
      await read();
    } catch (error) {
      if (keys.size === 0) throw error;
      log.warn({ err: error }, "the signing keys could not be read again");
    }
  }

  const look = singleFlight(async () => {
    if (performance.now() - lookedAt < lookEvery) return;
    await refresh(0);
    lookedAt = performance.now();
  });

  const loaded = read().then(refuseUnknownSealers);
  const ready = loaded.then(prepare);
  // Whoever needs them awaits them; nobody may, and that is no reason to end the process.
  loaded.catch(() => {});
  ready.catch(() => {});

  return {
    loaded,
    ready,

    async sign(claims, { typ }) {
      if (signer) await refresh(staleAfter.signing);
      if (!signer) await prepare();
      if (!signer) throw new Error("there is no key to sign with");
      return signJwt(signer, typ, claims);
    },

    async verify(token, expected) {
      const kid = keyIdOf(token);
      if (kid === null) return null;
      await refresh(staleAfter.signing);
      if (!keys.has(kid)) await look();
      const key = keys.get(kid);
      return key ? verifyJwt(token, key, expected) : null;
    },

    async jwks() {
      if (keys.size === 0) await prepare();
      else await refresh(staleAfter.publishing);
      const published = [...keys.values()].map(({ id, algorithm, publicJwk }) => ({
        ...publicJwk,
        kid: id,
        alg: algorithm,
        use: "sig" as const,
      }));
      return { keys: published };
    },
  };
}

function refuseUnknownSealers({ unknownSealers }: LoadedKeys): void {
  if (unknownSealers.length === 0) return;
  const names = [...new Set(unknownSealers)].join(", ");
  throw new StartError(
    `SECRET_KEYS lacks the key that sealed the signing key in the database (its name is ${names})`,
  );
}

/** Calls that come while one is under way share its outcome. */
function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let flight: Promise<Result> | null = null;
  return () => {
    flight ??= work().finally(() => {
      flight = null;
    });
    return flight;
  };
}

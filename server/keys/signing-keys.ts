import type { JsonWebKey } from "node:crypto";
import type { Logger } from "pino";
import { PUBLISHED_BEFORE_SIGNING_MS } from "#db/schema/tenants";
import { StartError } from "../config/errors.ts";
import {
  type Claims,
  type ExpectedToken,
  keyIdOf,
  type SigningKey,
  signBytes,
  signJwt,
  verifyJwt,
} from "./jwt.ts";
import {
  type ArchivedKey,
  type KeyStoreOptions,
  type LoadedKeys,
  loadKeys,
  MAX_PUBLISHED_KEYS,
  makeKey,
  type StoredKey,
  signedFor,
} from "./signing-key-store.ts";
import { UnknownKeyError } from "./vault.ts";
import type { VerifiedSignatures } from "./verified-signatures.ts";

/** A public key in `/.well-known/jwks.json` (RFC 7517). */
export type PublishedKey = JsonWebKey & { kid: string; alg: string; use: "sig" };

/** The keys that sign the tokens of one tenant for one purpose, cached in memory. */
export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** Maximum age of the cached keys. */
const MAX_AGE_SIGNING_MS = 60_000;
const MAX_AGE_PUBLISHING_MS = 1_000;

/** Any client can send an unknown `kid`, so unknown ones cause at most one read per interval. */
const UNKNOWN_KID_READ_INTERVAL_MS = 1_000;

/**
 * Reads the keys of a tenant, and generates one if there is none with the first secret key and the configured algorithm.
 * Keys that other processes generate are found when needed.
 *
 * @param options `seen`: the signatures that need no second verification
 */
export function createSigningKeys(options: KeyStoreOptions & { log: Logger; seen?: VerifiedSignatures }) {
  const { vault, tenant, purpose, log, seen } = options;
  let newest: LoadedKeys | undefined;
  let keys = new Map<string, StoredKey>();
  let archived: readonly ArchivedKey[] = [];
  let signer: SigningKey | null = null;
  let reads = 0;
  let newestRead = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let readForUnknownKidAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<LoadedKeys> {
    const turn = ++reads;
    readAt = performance.now();
    const found = await loadKeys(options, newest);
    // A result that a later read has overtaken may lack the newest key.
    if (turn < newestRead) return found;
    newest = found;
    newestRead = turn;
    keys = new Map(found.keys.map((key) => [key.id, key]));
    archived = found.archived;
    // A process continues with its own key while that is published, if it can unseal no other or all are too new.
    const own = signer && keys.has(signer.id) ? signer : null;
    signer = newestPublishedLongEnough(found) ?? own ?? found.signers.at(-1) ?? null;
    return found;
  }

  const prepare = singleFlight(async () => {
    const found = await read();
    rejectUnknownSealers(found);
    const [first] = found.signers;
    if (first && first.sealedBy === vault.keyIds[0]) {
      if (first.algorithm === signedFor[purpose](tenant.config).algorithm) return;
      // A tenant may change the algorithm at will.
      if (found.keys.length >= MAX_PUBLISHED_KEYS) {
        const line = `session.algorithm has changed too often: ${first.algorithm} stays in use`;
        return log.warn({ tenant: tenant.id }, line);
      }
    }
    if ((await makeKey(options)) === "made") log.info("a signing key was generated");
    await read();
  });

  /** Reads the keys again unless the cache is recent. If the database is unavailable, the cached keys are used. */
  async function refresh(milliseconds: number): Promise<void> {
    if (performance.now() - readAt < milliseconds) return;
    try {
      await read();
    } catch (error) {
      if (keys.size === 0) throw error;
      log.warn({ err: error }, "the signing keys could not be read again");
    }
  }

  const readForUnknownKid = singleFlight(async () => {
    if (performance.now() - readForUnknownKidAt < UNKNOWN_KID_READ_INTERVAL_MS) return;
    await refresh(0);
    readForUnknownKidAt = performance.now();
  });

  async function refreshPublished(): Promise<void> {
    if (keys.size === 0) await prepare();
    else await refresh(MAX_AGE_PUBLISHING_MS);
  }

  const loaded = read().then(rejectUnknownSealers);
  const ready = loaded.then(prepare);
  // Callers may await these; an unhandled rejection must not end the process.
  loaded.catch(() => {});
  ready.catch(() => {});

  return {
    /**
     * Resolves when the stored keys have been read.
     *
     * @throws StartError if one was sealed by a key that is not configured
     */
    loaded,
    /** Resolves when there is a signing key. The first start generates one, which may take a second. */
    ready,

    /** Signs with the newest key that others know by now, if there is an earlier one. */
    async sign(
      claims: object,
      { typ, parameters }: { typ: string; parameters?: object | undefined },
    ): Promise<string> {
      if (signer) await refresh(MAX_AGE_SIGNING_MS);
      if (!signer) await prepare();
      if (!signer) throw new Error("there is no signing key");
      return signJwt(signer, typ, claims, parameters);
    },

    /**
     * The key that signs now and the other published ones, for a library that makes tokens itself.
     *
     * @returns `signData` signs bytes with the first one (RFC 7515, 5.1)
     */
    async signing(): Promise<{
      signer: PublishedKey;
      others: PublishedKey[];
      signData(data: Uint8Array): Buffer;
    }> {
      if (signer) await refresh(MAX_AGE_SIGNING_MS);
      if (!signer) await prepare();
      const key = signer;
      const published = [...keys.values()].map(publishedKey);
      const own = published.find(({ kid }) => kid === key?.id);
      if (!key || !own) throw new Error("there is no signing key");
      return {
        signer: own,
        others: published.filter((other) => other !== own),
        signData: (data) => signBytes(key, data),
      };
    },

    /** @returns the claims, or null if anything is wrong with the token; see `verifyJwt` */
    async verify(token: string, expected: ExpectedToken): Promise<Claims | null> {
      const kid = keyIdOf(token);
      if (kid === null) return null;
      await refresh(MAX_AGE_SIGNING_MS);
      if (!keys.has(kid)) await readForUnknownKid();
      const key = keys.get(kid);
      return key ? verifyJwt(token, key, expected, seen) : null;
    },

    /** The keys that may have signed a valid token, newest first. */
    async jwks(): Promise<{ keys: PublishedKey[] }> {
      await refreshPublished();
      return { keys: [...keys.values()].map(publishedKey) };
    },

    /** Those and the archived ones, for what is verified years later. Tokens are verified by `jwks` alone. */
    async archive(): Promise<{ keys: PublishedKey[] }> {
      await refreshPublished();
      return { keys: [...keys.values(), ...archived].map(publishedKey) };
    },
  };
}

/** Returns a key as a key set contains it. */
export function publishedKey({ id, algorithm, publicJwk }: ArchivedKey): PublishedKey {
  return { ...publicJwk, kid: id, alg: algorithm, use: "sig" };
}

function newestPublishedLongEnough({ signers, now }: LoadedKeys): SigningKey | undefined {
  return signers.find(({ createdAt }) => now.getTime() - createdAt.getTime() >= PUBLISHED_BEFORE_SIGNING_MS);
}

function rejectUnknownSealers({ unknownSealers }: LoadedKeys): void {
  if (unknownSealers.length === 0) return;
  const names = [...new Set(unknownSealers)];
  const error = new StartError(
    `SECRET_KEYS lacks the key that sealed the signing key in the database (its name is ${names.join(", ")})`,
  );
  // While the server runs, the requests that need the key are answered as for any other sealed value.
  error.cause = new UnknownKeyError(names[0] ?? "");
  throw error;
}

/** Concurrent calls share one execution and its result. */
function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let flight: Promise<Result> | null = null;
  return () => {
    flight ??= work().finally(() => {
      flight = null;
    });
    return flight;
  };
}

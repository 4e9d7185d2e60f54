import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import { type Database, type ReadOnly, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { sealContext } from "#db/schema/table";
import { PUBLISHED_BEFORE_SIGNING_MS, tokenKeyPurposes } from "#db/schema/tenants";
import type { Write } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Platform } from "../lib/platform.ts";
import type { Algorithm, SigningKey, VerifyingKey } from "./jwt.ts";
import { UnknownKeyError, type Vault } from "./vault.ts";

/** Where the key pairs of one tenant for one purpose are stored. */
export interface KeyStoreOptions {
  database: Database;
  vault: Vault;
  tenant: Tenant;
  purpose: KeyPurpose;
  platform: Platform;
}

/** The purposes of tokens. */
export const keyPurposes = tokenKeyPurposes;

export type KeyPurpose = (typeof tokenKeyPurposes)[number];

/** The algorithm and the lifetime in seconds of the tokens of a purpose. */
export const signedFor: Record<KeyPurpose, (config: Config) => { algorithm: Algorithm; lifespan: number }> = {
  session: ({ session }) => session,
  // RS256 is the algorithm that published clients of the passkey server verify.
  passkeys: () => ({ algorithm: "RS256", lifespan: 300 }),
};

/** Purposes whose keys also sign statements that are verified years later: their public keys are never deleted. */
const archivedPurposes: readonly KeyPurpose[] = ["passkeys"];

/** The public part of a key that is no longer published. */
export interface ArchivedKey {
  id: string;
  algorithm: Algorithm;
  publicJwk: JsonWebKey;
}

/** A published key. */
export interface StoredKey extends VerifyingKey {
  publicJwk: JsonWebKey;
  /** When the last token signed with it expires; null until it has retired. */
  publishedUntil: Date | null;
}

/** A key with its private part as it is stored, so that a later read finds out whether that has changed. */
export interface Signer extends SigningKey {
  sealedBy: string;
  sealed: Buffer;
  createdAt: Date;
}

export interface LoadedKeys {
  /** Newest first, without keys whose last token has expired. */
  keys: StoredKey[];
  /** Those without which receipts could not be verified, newest first. They verify no token. */
  archived: ArchivedKey[];
  /** The keys that have not retired and can be unsealed, newest first, each with the id of the key that sealed it. */
  signers: Signer[];
  /** Ids of keys that sealed the newest private keys and are not configured. */
  unknownSealers: string[];
  /** The database's clock. */
  now: Date;
}

/** Processes with an older configuration may continue signing with a retired key for this long. */
const ROTATION_OVERLAP_MS = 3_600_000;

const { signingKeys, tenants } = schema;

type Of = Pick<KeyStoreOptions, "tenant" | "purpose">;

const ofPurpose = ({ tenant, purpose }: Of) =>
  and(eq(signingKeys.tenantId, tenant.id), eq(signingKeys.purpose, purpose));

const contextOf = ({ tenant, purpose }: Of, id: string) =>
  sealContext(signingKeys, "sealedPrivateJwk", { tenantId: tenant.id, purpose, id });

/**
 * Reads all keys that may verify a valid token.
 *
 * @param known an earlier result: keys that have not changed since are not imported again
 */
export async function loadKeys(
  options: KeyStoreOptions,
  known?: Pick<LoadedKeys, "keys" | "signers">,
): Promise<LoadedKeys> {
  const { database, vault, platform } = options;
  const rows = await database.read
    .select({ row: signingKeys, now: databaseNow(platform.clockShift()) })
    .from(signingKeys)
    .where(ofPurpose(options))
    .orderBy(desc(signingKeys.createdAt), desc(signingKeys.id));
  const loaded: LoadedKeys = {
    keys: [],
    archived: [],
    signers: [],
    unknownSealers: [],
    now: rows[0]?.now ?? new Date(),
  };
  for (const { row, now } of rows) {
    const publishedUntil =
      row.retiredAt && new Date(row.retiredAt.getTime() + publishedMilliseconds(options));
    const archived = { id: row.id, algorithm: row.algorithm as Algorithm, publicJwk: row.publicJwk };
    if (publishedUntil && publishedUntil < now) {
      loaded.archived.push(archived);
      continue;
    }
    const same = known?.keys.find(
      ({ id, publicJwk }) => id === row.id && isSameJwk(publicJwk, row.publicJwk),
    );
    const key = {
      id: archived.id,
      algorithm: archived.algorithm,
      publicKey: same?.publicKey ?? createPublicKey({ key: row.publicJwk, format: "jwk" }),
    };
    loaded.keys.push({ ...key, publicJwk: row.publicJwk, publishedUntil });
    if (row.retiredAt) continue;
    try {
      const { sealedPrivateJwk: sealed, sealedBy, createdAt } = row;
      const opened = known?.signers.find((signer) => signer.id === row.id && signer.sealed.equals(sealed));
      const privateKey =
        opened?.privateKey ?? openPrivateKey(vault.unseal(sealed, contextOf(options, row.id)));
      loaded.signers.push({ ...key, privateKey, sealed, sealedBy, createdAt });
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
      if (loaded.signers.length === 0) loaded.unknownSealers.push(error.keyId);
    }
  }
  return loaded;
}

/** Reads the public keys that sign and have signed for a purpose, newest first. */
export function loadPublicKeys(
  db: ReadOnly,
  { tenantId, purpose }: { tenantId: string; purpose: KeyPurpose },
): Promise<ArchivedKey[]> {
  return db
    .select({
      id: signingKeys.id,
      algorithm: sql<Algorithm>`${signingKeys.algorithm}`,
      publicJwk: signingKeys.publicJwk,
    })
    .from(signingKeys)
    .where(and(eq(signingKeys.tenantId, tenantId), eq(signingKeys.purpose, purpose)))
    .orderBy(desc(signingKeys.createdAt), desc(signingKeys.id));
}

/** Every server and application reads each published key until its last token has expired, so there are not many. */
export const MAX_PUBLISHED_KEYS = 10;

/** Why no key was made. `known`: the newest key is as wanted; `recent`: the newest key signs for too short a time. */
export type KeyRefusal = "known" | "recent" | "too_many";

/**
 * Generates a key pair, sealed by the first secret key. Earlier keys sign until others know the new one, and retire
 * then, by the purge.
 *
 * @param wanted `other`: a key with another algorithm or secret key than the newest one, of which another process may have made
 *   one concurrently; `any`: a rotation
 * @param record makes what is written with the key, of the time
 * @returns `made`, or why nothing was written
 */
export async function makeKey(
  options: KeyStoreOptions,
  wanted: "other" | "any" = "other",
  record?: (now: Date) => Write,
): Promise<"made" | KeyRefusal> {
  const { database, vault, tenant, purpose, platform } = options;
  const { algorithm } = signedFor[purpose](tenant.config);
  const id = platform.uuid();
  const sealedBy = vault.keyIds[0] ?? "";
  // Outside the transaction, because it may take a second, and in the thread pool, because it must not block requests.
  const { publicKey, privateKey } = await generate[algorithm]();
  const sealedPrivateJwk = vault.seal(
    Buffer.from(JSON.stringify(privateKey.export({ format: "jwk" }))),
    contextOf(options, id),
  );
  const publicJwk = publicKey.export({ format: "jwk" }) as Record<string, string>;

  return database.write.transaction(async (tx) => {
    const [owner] = await tx
      .select({ now: databaseNow(platform.clockShift()) })
      .from(tenants)
      .where(eq(tenants.id, tenant.id))
      .for("no key update");
    if (!owner) throw new Error(`tenant ${tenant.id} does not exist`);
    const [newest] = await tx
      .select({
        sealedBy: signingKeys.sealedBy,
        algorithm: signingKeys.algorithm,
        createdAt: signingKeys.createdAt,
      })
      .from(signingKeys)
      .where(and(ofPurpose(options), isNull(signingKeys.retiredAt)))
      .orderBy(desc(signingKeys.createdAt), desc(signingKeys.id))
      .limit(1);
    if (wanted === "other") {
      if (newest?.sealedBy === sealedBy && newest.algorithm === algorithm) return "known";
    } else if (newest && owner.now.getTime() - newest.createdAt.getTime() < MIN_KEY_AGE_MS) return "recent";
    if (!archivedPurposes.includes(purpose)) {
      const expired = new Date(owner.now.getTime() - publishedMilliseconds(options));
      await tx.delete(signingKeys).where(and(ofPurpose(options), lt(signingKeys.retiredAt, expired)));
    }
    await tx
      .insert(signingKeys)
      .values({ tenantId: tenant.id, id, purpose, algorithm, publicJwk, sealedPrivateJwk, sealedBy });
    await record?.(owner.now)(tx);
    return "made";
  });
}

/** A key that replaces another has retired it by then. */
const MIN_KEY_AGE_MS = PUBLISHED_BEFORE_SIGNING_MS * 2;

/**
 * Replaces the key that signs for a purpose now. The new key is published at once, and signs when those who cache the keys know
 * it. What was signed stays valid.
 *
 * @param record makes what is written with the key, of the time
 */
export async function rotateKey(
  options: KeyStoreOptions,
  record: (now: Date) => Write,
): Promise<"made" | KeyRefusal> {
  const found = await listKeys(options);
  if (found.filter(({ state }) => state !== "archived").length >= MAX_PUBLISHED_KEYS) return "too_many";
  return makeKey(options, "any", record);
}

/** What a stored key does. `next`: published, and signs soon; `former`: verifies what it has signed; `archived`: no token. */
export const keyStates = ["next", "signing", "former", "archived"] as const;

/** A stored key without its private part. */
export interface ListedKey {
  id: string;
  algorithm: Algorithm;
  state: (typeof keyStates)[number];
  createdAt: Date;
  /** Since when it signs or will sign. */
  signsFrom: Date;
  /** When the last token signed with it expires; null until it has retired. */
  publishedUntil: Date | null;
}

/** Lists the keys of a purpose, the newest first. */
export async function listKeys(options: Omit<KeyStoreOptions, "vault">): Promise<ListedKey[]> {
  const { database, platform } = options;
  const rows = await database.read
    .select({
      id: signingKeys.id,
      algorithm: sql<Algorithm>`${signingKeys.algorithm}`,
      createdAt: signingKeys.createdAt,
      retiredAt: signingKeys.retiredAt,
      now: databaseNow(platform.clockShift()),
    })
    .from(signingKeys)
    .where(ofPurpose(options))
    .orderBy(desc(signingKeys.createdAt), desc(signingKeys.id));
  const live = rows.filter(({ retiredAt }) => retiredAt === null);
  const signs = live.find((row) => signsFrom(row) <= row.now) ?? live.at(-1);
  return rows.map((row) => {
    const { id, algorithm, createdAt, retiredAt, now } = row;
    const publishedUntil = retiredAt && new Date(retiredAt.getTime() + publishedMilliseconds(options));
    const isOlder = signs === undefined || createdAt < signs.createdAt;
    const state =
      publishedUntil && publishedUntil < now
        ? "archived"
        : row === signs
          ? "signing"
          : retiredAt || isOlder
            ? "former"
            : "next";
    const from = row === live.at(-1) && rows.length === live.length ? createdAt : signsFrom(row);
    return { id, algorithm, state, createdAt, signsFrom: from, publishedUntil };
  });
}

const signsFrom = ({ createdAt }: { createdAt: Date }) =>
  new Date(createdAt.getTime() + PUBLISHED_BEFORE_SIGNING_MS);

const publishedMilliseconds = ({ tenant, purpose }: Of) =>
  signedFor[purpose](tenant.config).lifespan * 1000 + ROTATION_OVERLAP_MS;

/** The members come from the database, which stores them in one order. */
const isSameJwk = (one: JsonWebKey, other: JsonWebKey) => JSON.stringify(one) === JSON.stringify(other);

function openPrivateKey(jwk: Buffer): KeyObject {
  return createPrivateKey({ key: JSON.parse(jwk.toString()) as JsonWebKey, format: "jwk" });
}

const inThreadPool = promisify(generateKeyPair);

const generate = {
  RS256: () => inThreadPool("rsa", { modulusLength: 2048 }),
  ES256: () => inThreadPool("ec", { namedCurve: "P-256" }),
  EdDSA: () => inThreadPool("ed25519", {}),
} as const satisfies Record<Algorithm, unknown>;

/** The algorithms of keys. */
export const algorithms = Object.keys(generate) as [Algorithm, ...Algorithm[]];

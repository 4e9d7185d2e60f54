import { and, count, eq } from "drizzle-orm";
import { type Databases, type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { executePart } from "#db/part";
import type { Write } from "#db/write";
import type { RequestContext } from "../../context/context.ts";
import { lockUser } from "../../identity/lock-user.ts";
import { type Sealing, splitDigest } from "../../keys/vault.ts";
import type { OnPlatform, Platform } from "../../lib/platform.ts";
import type { RateLimited } from "../../limits/rate-limits.ts";
import { countSecondFactorAttempt, type TypedFactor } from "../second-factor-attempts.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Sealing;

const { recoveryCodes } = schema;

/** Codes of one set. */
const RECOVERY_CODE_COUNT = 10;

/** Crockford's base 32, which has no letters that resemble digits or each other. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** 80 bits; NIST SP 800-63B-4 section 4.2.1.1 asks for 64. */
const CODE_LENGTH = 16;
const GROUP_LENGTH = 4;

// The codes cannot be guessed, so failed attempts must not keep the owner from using one.
const typed = { counter: "recovery_code", cap: null } as const satisfies TypedFactor;

export type RecoveryCodeVerdict =
  /** `write` consumes the code; it throws ConflictError("recovery_code") if it was consumed concurrently. */
  | { ok: true; write: Write }
  | { ok: false; reason: "wrong" }
  /** Not verified: too many wrong codes for this account. */
  | RateLimited;

/**
 * Generates a new set of ten codes for an account, which replaces the previous set.
 *
 * @returns `codes` as the user sees them, four groups of four joined by `-`: they are stored as HMACs, so this is the
 *   only time. `write` throws ConflictError("user") if the account no longer exists
 */
export function replaceRecoveryCodes(
  context: RequestContext<Process>,
  userId: string,
): { codes: string[]; write: Write } {
  const { runtime, tenant, now } = context;
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, () => newRecoveryCode(runtime.platform));
  const rows = codes.map((code) => {
    const digest = runtime.vault.digest(...hashed(tenant.id, userId, normalizeRecoveryCode(code) ?? ""));
    // Codes of release 0.2 are the hash alone, so the id of the key has a column of its own.
    const { keyId, mac: codeHash } = splitDigest(digest);
    return { tenantId: tenant.id, userId, keyId, codeHash, createdAt: now };
  });
  const write: Write = async (tx) => {
    // Of two concurrent replacements the second must see the codes of the first, or both sets would stay.
    await lockUser(tx, tenant.id, userId);
    await tx.delete(recoveryCodes).where(ofUser(tenant.id, userId));
    await tx.insert(recoveryCodes).values(rows);
  };
  return { codes, write };
}

/**
 * Verifies a recovery code, however it is formatted. An attempt is counted before it is verified, unless the input cannot be a code.
 * Codes have enough entropy that a limited rate of guesses suffices, so failures never lock this method
 * (NIST SP 800-63B-4 section 4.2.1.1).
 */
export async function verifyRecoveryCode(
  context: RequestContext<Process>,
  { userId, code }: { userId: string; code: string },
): Promise<RecoveryCodeVerdict> {
  const { runtime, tenant } = context;
  const normal = normalizeRecoveryCode(code);
  if (normal === null) return { ok: false, reason: "wrong" };
  const stored = await runtime.database.read
    .select({ codeHash: recoveryCodes.codeHash, keyId: recoveryCodes.keyId })
    .from(recoveryCodes)
    .where(ofUser(tenant.id, userId));
  // Codes of a key that is not configured cannot be judged, so this throws before the attempt is counted.
  for (const row of stored) runtime.vault.assertKnown("digest", digestOf(row));
  const admitted = await countSecondFactorAttempt(context, typed, userId);
  if (!admitted.ok) return admitted;

  const found = stored.find((row) =>
    runtime.vault.matches(digestOf(row), ...hashed(tenant.id, userId, normal)),
  );
  if (!found) return { ok: false, reason: "wrong" };
  return {
    ok: true,
    write: async (tx) => {
      await executePart(tx, admitted.success);
      const consumed = await tx
        .delete(recoveryCodes)
        .where(and(ofUser(tenant.id, userId), eq(recoveryCodes.codeHash, found.codeHash)))
        .returning({ userId: recoveryCodes.userId });
      if (consumed.length === 0) throw new ConflictError("recovery_code");
    },
  };
}

/** The digest of its columns; codes of release 0.2 name no key. */
function digestOf({ keyId, codeHash }: { keyId: Buffer | null; codeHash: Buffer }): Buffer {
  return keyId ? Buffer.concat([keyId, codeHash]) : codeHash;
}

/** The number of unused codes of an account. */
export async function countRecoveryCodes(db: ReadOnly, tenantId: string, userId: string): Promise<number> {
  const [row] = await db.select({ left: count() }).from(recoveryCodes).where(ofUser(tenantId, userId));
  return row?.left ?? 0;
}

/** Deletes all codes of an account, for instance with its last second factor. */
export function deleteRecoveryCodes(
  { tenant }: Pick<RequestContext<unknown>, "tenant">,
  userId: string,
): Write {
  return async (tx) => {
    await tx.delete(recoveryCodes).where(ofUser(tenant.id, userId));
  };
}

/** A code as it is displayed: 16 characters of 5 random bits each. */
export function newRecoveryCode({ randomBytes }: Pick<Platform, "randomBytes">): string {
  // 32 divides 256, so the remainder of a byte is uniformly distributed.
  const characters = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length));
  const groups = Array.from({ length: CODE_LENGTH / GROUP_LENGTH }, (_, group) =>
    characters.slice(group * GROUP_LENGTH, (group + 1) * GROUP_LENGTH).join(""),
  );
  return groups.join("-");
}

/**
 * Normalizes a code for comparison: ignores case, white space and dashes, and reads O, I and L as the digits they
 * resemble.
 *
 * @returns null if the input cannot be a code
 */
export function normalizeRecoveryCode(typed: string): string | null {
  const normal = typed
    .replace(/[\s\p{Pd}]/gu, "")
    .toUpperCase()
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  return normal.length === CODE_LENGTH && [...normal].every((sign) => ALPHABET.includes(sign))
    ? normal
    : null;
}

function hashed(tenantId: string, userId: string, normal: string): [string, ...string[]] {
  return ["recovery_code", tenantId, userId, normal];
}

function ofUser(tenantId: string, userId: string) {
  return and(eq(recoveryCodes.tenantId, tenantId), eq(recoveryCodes.userId, userId));
}

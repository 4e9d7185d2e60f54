import { and, count, eq, inArray } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { lockUser } from "../identity/users.ts";
import type { Platform } from "../lib/platform.ts";
import type { RequestContext } from "../runtime.ts";
import { countSecondFactorAttempt } from "./second-factor-attempts.ts";

const { recoveryCodes } = schema;

/** How many codes are handed out at a time. */
export const RECOVERY_CODE_COUNT = 10;

/** Crockford's base 32: no letter in it can be taken for a digit or for another letter. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** 80 bits; NIST SP 800-63B-4 section 4.2.1.1 asks for 64. */
const codeLength = 16;
const groupLength = 4;

export type RecoveryCodeVerdict =
  /** `write` uses the code up; it throws TakenError("recovery_code") when somebody else did. */
  | { ok: true; write: Write }
  | { ok: false }
  /** Not judged: too many wrong codes for this account. Whole seconds to wait, at least 1. */
  | { limited: number };

/**
 * Makes the ten codes of an account anew; those before are worth nothing from the commit on.
 *
 * @returns `codes` as people are shown them, four groups of four joined by `-`: they rest as HMACs, so this is the
 *   only time. `write` throws TakenError("user") when the account is gone
 */
export function replaceRecoveryCodes(
  context: RequestContext,
  userId: string,
): { codes: string[]; write: Write } {
  const { runtime, tenant, now } = context;
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, () => newRecoveryCode(runtime.platform));
  const rows = codes.map((code) => ({
    tenantId: tenant.id,
    userId,
    codeHash: runtime.vault.mac(...hashed(tenant.id, userId, normalizeRecoveryCode(code) ?? "")),
    createdAt: now,
  }));
  const write: Write = async (tx) => {
    // Of two at once the second has to see the codes of the first, or both sets would stay.
    await lockUser(tx, tenant.id, userId);
    await tx.delete(recoveryCodes).where(ofUser(tenant.id, userId));
    await tx.insert(recoveryCodes).values(rows);
  };
  return { codes, write };
}

/**
 * Judges a recovery code, in whatever way it was typed. Counted before it is judged, as any typed second factor is;
 * what cannot be a code at all is no guess, and costs no try. There are too many codes for guessing ever to need more
 * than a pace, so that nobody can bar them (NIST SP 800-63B-4 section 4.2.1.1).
 */
export async function verifyRecoveryCode(
  context: RequestContext,
  { userId, code }: { userId: string; code: string },
): Promise<RecoveryCodeVerdict> {
  const { runtime, tenant } = context;
  const normal = normalizeRecoveryCode(code);
  if (normal === null) return { ok: false };
  const admitted = await countSecondFactorAttempt(context, "recovery_code", userId);
  if (!admitted.ok) return { limited: admitted.retryAfterSeconds };

  // The key that it was written under may no longer be the first one.
  const hashes = runtime.vault.macs(...hashed(tenant.id, userId, normal));
  const own = and(ofUser(tenant.id, userId), inArray(recoveryCodes.codeHash, hashes));
  const found = await runtime.database.read
    .select({ codeHash: recoveryCodes.codeHash })
    .from(recoveryCodes)
    .where(own);
  if (found.length === 0) return { ok: false };
  return {
    ok: true,
    write: async (tx) => {
      await admitted.refund(tx);
      const taken = await tx.delete(recoveryCodes).where(own).returning({ userId: recoveryCodes.userId });
      if (taken.length === 0) throw new ConflictError("recovery_code");
    },
  };
}

/** How many codes an account has left. */
export async function countRecoveryCodes(db: ReadOnly, tenantId: string, userId: string): Promise<number> {
  const [row] = await db.select({ left: count() }).from(recoveryCodes).where(ofUser(tenantId, userId));
  return row?.left ?? 0;
}

/** Takes all codes from an account, for instance with its last second factor. */
export function deleteRecoveryCodes({ tenant }: Pick<RequestContext, "tenant">, userId: string): Write {
  return async (tx) => {
    await tx.delete(recoveryCodes).where(ofUser(tenant.id, userId));
  };
}

/** A code as it is shown: 16 characters of 5 random bits each. */
export function newRecoveryCode({ randomBytes }: Pick<Platform, "randomBytes">): string {
  // 32 divides 256, so the rest of a byte favours no character.
  const characters = [...randomBytes(codeLength)].map((byte) => alphabet.charAt(byte % alphabet.length));
  const groups = Array.from({ length: codeLength / groupLength }, (_, group) =>
    characters.slice(group * groupLength, (group + 1) * groupLength).join(""),
  );
  return groups.join("-");
}

/**
 * A code as it is compared: whatever the case, the spaces and the dashes, and with the letters that people take
 * digits for read as those digits.
 *
 * @returns null for what cannot be a code
 */
export function normalizeRecoveryCode(typed: string): string | null {
  const normal = typed
    .replace(/[\s\p{Pd}]/gu, "")
    .toUpperCase()
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");
  return normal.length === codeLength && [...normal].every((sign) => alphabet.includes(sign)) ? normal : null;
}

function hashed(tenantId: string, userId: string, normal: string): [string, ...string[]] {
  return ["recovery_code", tenantId, userId, normal];
}

function ofUser(tenantId: string, userId: string) {
  return and(eq(recoveryCodes.tenantId, tenantId), eq(recoveryCodes.userId, userId));
}

import { and, eq, lt, sql } from "drizzle-orm";
import { ScureBase32Plugin, verify } from "otplib";
import { type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { countSecondFactorAttempt } from "./second-factor-attempts.ts";
import { totpQrCode, totpUri } from "./totp-qr-code.ts";

/**
 * Authenticator apps: codes of six digits from a shared secret and the time (RFC 6238), by the parameters that every
 * app knows: HMAC-SHA-1, steps of 30 seconds.
 */

const { totpSecrets } = schema;

/** 160 bits, as RFC 4226 section 4 recommends. */
const secretBytes = 20;
const stepSeconds = 30;
/** The step before and the one after are taken too, for clocks that differ (RFC 6238 section 5.2). */
const toleranceSeconds = stepSeconds;

const base32 = new ScureBase32Plugin();

/** A secret that an authenticator app has shown to hold; plain JSON, so that a flow can keep it. */
export interface ConfirmedTotp {
  /** Sealed secret, base64url. */
  sealed: string;
  /** Time step of the code that confirmed it; codes of it and of earlier steps are spent. */
  lastStep: number;
}

/** What a person is shown to set up their app. */
export interface TotpSetup {
  /** The secret in base 32 without padding, to be typed in. */
  secret: string;
  /** The same as a QR code: a PNG as a data URL (RFC 2397). */
  image: string;
}

export type TotpVerdict =
  /** `write` belongs to the step that goes on from here; it throws TakenError("otp") when the code was used meanwhile. */
  | { ok: true; write: Write }
  /** `already_used`: the code was right, and it or a later one was taken before (RFC 6238 section 5.2). */
  | { ok: false; reason: "wrong" | "already_used" }
  /** Not judged: too many wrong codes for this account. Whole seconds to wait, at least 1. */
  | { limited: number };

export type TotpConfirmation =
  /** `write` belongs to the step that keeps `confirmed`. */
  { ok: true; confirmed: ConfirmedTotp; write: Write } | { ok: false } | { limited: number };

/**
 * Makes a secret for an account, or for one that is about to be.
 *
 * @returns it sealed, base64url, for this account and no other
 */
export function newTotpSecret({ runtime, tenant }: RequestContext, userId: string): string {
  const secret = runtime.platform.randomBytes(secretBytes);
  return runtime.vault.seal(secret, totpSealContext(tenant.id, userId)).toString("base64url");
}

/**
 * Opens a sealed secret for its owner to see.
 *
 * @param about `account`: how the person is known to themselves, an address or a name
 */
export async function showTotp(
  context: RequestContext,
  about: { userId: string; sealed: string; account: string },
): Promise<TotpSetup> {
  const secret = base32.encode(openSecret(context, about.userId, Buffer.from(about.sealed, "base64url")), {
    padding: false,
  });
  const uri = totpUri({ service: context.tenant.config.service.name, account: about.account, secret });
  const image = await totpQrCode(uri);
  return { secret, image };
}

/**
 * Whether the app holds the secret it was shown. Tries are counted as those of a sign-in are.
 *
 * @param about `sealed`: what `newTotpSecret` gave for this account
 */
export async function confirmTotp(
  context: RequestContext,
  { userId, sealed, code }: { userId: string; sealed: string; code: string },
): Promise<TotpConfirmation> {
  if (!isCode(code)) return { ok: false };
  const admitted = await countSecondFactorAttempt(context, "otp", userId);
  if (!admitted.ok) return { limited: admitted.retryAfterSeconds };
  const step = await stepOf(openSecret(context, userId, Buffer.from(sealed, "base64url")), code, context.now);
  if (step === null) return { ok: false };
  return { ok: true, confirmed: { sealed, lastStep: step }, write: admitted.refund };
}

/**
 * Judges the code of an account's app by the step's moment. Each code is good for once, and none that is older than
 * one that was taken.
 *
 * Counted before it is judged; what is not six ASCII digits is no guess, and costs no try. After a hundred wrong codes
 * in a row no code is right until another second factor succeeds, provided there is one, which looks like a wrong code
 * to whoever brought that about (NIST SP 800-63B-4 section 3.2.2).
 *
 * @param attempt `otherWayIn`: whether the account has another second factor
 */
export async function verifyTotp(
  context: RequestContext,
  { userId, code, otherWayIn = false }: { userId: string; code: string; otherWayIn?: boolean },
): Promise<TotpVerdict> {
  if (!isCode(code)) return { ok: false, reason: "wrong" };
  const admitted = await countSecondFactorAttempt(context, "otp", userId);
  if (!admitted.ok) return { limited: admitted.retryAfterSeconds };

  const { runtime, tenant, now } = context;
  const [stored] = await selectSecret(runtime.database.read).execute({ tenantId: tenant.id, userId });
  const step = stored && (await stepOf(openSecret(context, userId, stored.sealedSecret), code, now));
  if (stored === undefined || step === undefined || step === null || (admitted.barred && otherWayIn)) {
    return { ok: false, reason: "wrong" };
  }
  if (step <= stored.lastStep) return { ok: false, reason: "already_used" };
  return {
    ok: true,
    write: async (tx) => {
      await admitted.refund(tx);
      const taken = await tx
        .update(totpSecrets)
        .set({ lastStep: step })
        .where(
          and(
            eq(totpSecrets.tenantId, tenant.id),
            eq(totpSecrets.userId, userId),
            // Of another secret that took this one's place meanwhile, the code is none.
            eq(totpSecrets.sealedSecret, stored.sealedSecret),
            lt(totpSecrets.lastStep, step),
          ),
        )
        .returning({ lastStep: totpSecrets.lastStep });
      if (taken.length === 0) throw new ConflictError("otp");
    },
  };
}

/** Gives an account its app; violates `totp_secrets_tenant_id_user_id_pk` when it has one meanwhile. */
export function insertTotp(
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
  userId: string,
  { sealed, lastStep }: ConfirmedTotp,
): Write {
  const sealedSecret = Buffer.from(sealed, "base64url");
  return async (tx) => {
    await tx
      .insert(totpSecrets)
      .values({ tenantId: tenant.id, userId, sealedSecret, lastStep, createdAt: now });
  };
}

/** Takes the app from an account; its codes are worth nothing from the commit on. */
export function deleteTotp({ tenant }: Pick<RequestContext, "tenant">, userId: string): Write {
  return async (tx) => {
    await tx
      .delete(totpSecrets)
      .where(and(eq(totpSecrets.tenantId, tenant.id), eq(totpSecrets.userId, userId)));
  };
}

/** What a secret is sealed for. */
export function totpSealContext(tenantId: string, userId: string): string {
  return `totp secret ${tenantId} ${userId}`;
}

const selectSecret = prepared("totp_secret", (db: ReadOnly) =>
  db
    .select({ sealedSecret: totpSecrets.sealedSecret, lastStep: totpSecrets.lastStep })
    .from(totpSecrets)
    .where(
      and(
        eq(totpSecrets.tenantId, sql.placeholder("tenantId")),
        eq(totpSecrets.userId, sql.placeholder("userId")),
      ),
    ),
);

function openSecret({ runtime, tenant }: RequestContext, userId: string, sealed: Buffer): Buffer {
  return runtime.vault.unseal(sealed, totpSealContext(tenant.id, userId));
}

/** The time step that a code is of, if it is right now; null otherwise. */
async function stepOf(secret: Buffer, token: string, now: Date): Promise<number | null> {
  const epoch = Math.floor(now.getTime() / 1000);
  const result = await verify({
    secret,
    token,
    epoch,
    period: stepSeconds,
    epochTolerance: toleranceSeconds,
  });
  return result.valid && "timeStep" in result ? result.timeStep : null;
}

function isCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

import { and, eq } from "drizzle-orm";
import { createGuardrails, ScureBase32Plugin, verify } from "otplib";
import { z } from "zod";
import { type Databases, schema } from "#db/client";
import { bytesOf } from "#db/json-row";
import type { Part } from "#db/part";
import { sealContext } from "#db/schema/table";
import { runTogether } from "#db/together";
import { type Write, writeOf } from "#db/write";
import type { ClientContext, RequestContext } from "../../context/context.ts";
import { keyIdOf, type Sealing } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import type { Condition, RateLimited } from "../../limits/rate-limits.ts";
import {
  askToCount,
  type CountedSecondFactor,
  countSecondFactorAttempt,
  judgeSecondFactorAttempt,
  type TypedFactor,
} from "../second-factor-attempts.ts";
import { totpQrCode, totpUri } from "./totp-qr-code.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Sealing;

/**
 * Time-based one-time passwords of authenticator apps (RFC 6238), with the parameters that every app supports:
 * HMAC-SHA-1, six digits, time steps of 30 seconds.
 */

const { totpSecrets } = schema;

/** 160 bits, as RFC 4226 section 4 recommends. */
const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
/** The previous and the next step are accepted too, for clock skew (RFC 6238 section 5.2). */
const TOLERANCE_SECONDS = STEP_SECONDS;

const typed = { counter: "otp", cap: { failures: 5, windowSeconds: 300 } } as const satisfies TypedFactor;

/** Other systems have issued secrets of 80 bits. */
export const MIN_IMPORTED_SECRET_BYTES = 10;
export const MAX_IMPORTED_SECRET_BYTES = 64;
const guardrails = createGuardrails({
  MIN_SECRET_BYTES: MIN_IMPORTED_SECRET_BYTES,
  MAX_SECRET_BYTES: MAX_IMPORTED_SECRET_BYTES,
});

const base32 = new ScureBase32Plugin();

/** Decodes a secret in base 32 (RFC 4648 section 6), in either case, with or without padding and spaces; null for any other text. */
export function decodeTotpSecret(text: string): Buffer | null {
  const bare = text.replace(/[\s-]/g, "").replace(/=+$/, "").toUpperCase();
  try {
    return Buffer.from(base32.decode(bare));
  } catch {
    return null;
  }
}

/** Encodes a secret in base 32 without padding. */
export function encodeTotpSecret(secret: Buffer): string {
  return base32.encode(secret, { padding: false });
}

/** A secret that a code of the authenticator app has confirmed; plain JSON, so that flow data can hold it. */
export const confirmedTotp = z.object({
  /** Sealed secret, base64url. */
  sealed: z.string(),
  /** Time step of the code that confirmed it; codes of this and earlier steps are no longer accepted. */
  lastStep: z.int(),
});

export type ConfirmedTotp = z.output<typeof confirmedTotp>;

/** The secret as the user sees it to set up an app. */
export interface TotpSetup {
  /** The secret in base 32 without padding, for manual entry. */
  secret: string;
  /** A QR code of it: a PNG as a data URL (RFC 2397). */
  image: string;
}

export type TotpVerdict =
  /** `write` consumes the code; it throws ConflictError("otp") if it was used concurrently. */
  | { ok: true; write: Write }
  /** `already_used`: the code is correct, but it or a later one was used before (RFC 6238 section 5.2). */
  | { ok: false; reason: "wrong" | "already_used" }
  /** Not verified: too many wrong codes for this account. */
  | RateLimited;

export type TotpConfirmation =
  /** `write` is part of the step that keeps `confirmed`. */
  { ok: true; confirmed: ConfirmedTotp; write: Write } | { ok: false; reason: "wrong" } | RateLimited;

/**
 * Generates a secret for an account that exists or is about to be created.
 *
 * @returns the secret sealed for this account, base64url
 */
export function newTotpSecret({ runtime, tenant }: RequestContext<Process>, userId: string): string {
  const secret = runtime.platform.randomBytes(SECRET_BYTES);
  return runtime.vault.seal(secret, totpSealContext(tenant.id, userId)).toString("base64url");
}

/**
 * Unseals a secret to show it to its owner.
 *
 * @param about `account`: the label of the account in the app, an email address or a username
 */
export async function showTotp(
  context: RequestContext<Process>,
  about: { userId: string; sealed: string; account: string },
): Promise<TotpSetup> {
  const secret = encodeTotpSecret(openSecret(context, about.userId, Buffer.from(about.sealed, "base64url")));
  const uri = totpUri({ service: context.tenant.config.service.name, account: about.account, secret });
  const image = await totpQrCode(uri);
  return { secret, image };
}

/**
 * Confirms that the app holds a new secret. Attempts are counted like those of signing in.
 *
 * @param about `sealed`: the result of `newTotpSecret` for this account
 */
export async function confirmTotp(
  context: RequestContext<Process>,
  { userId, sealed, code }: { userId: string; sealed: string; code: string },
): Promise<TotpConfirmation> {
  if (!isCode(code)) return { ok: false, reason: "wrong" };
  const secret = openSecret(context, userId, Buffer.from(sealed, "base64url"));
  const admitted = await countSecondFactorAttempt(context, typed, userId);
  if (!admitted.ok) return admitted;
  const step = await stepOf(secret, code, context.now);
  if (step === null) return { ok: false, reason: "wrong" };
  return { ok: true, confirmed: { sealed, lastStep: step }, write: writeOf(admitted.success) };
}

/**
 * Verifies a TOTP code at the time of the request. A code is accepted once, and never after a later one.
 *
 * The attempt is counted before it is judged, unless the input is not six ASCII digits. After 100 consecutive failures every code is
 * rejected as wrong until another second factor succeeds, provided the account has one
 * (NIST SP 800-63B-4 section 3.2.2).
 *
 * @param attempt `hasAlternative`: whether the account has another second factor
 * @param asked what `askForTotp` has found for this attempt; null if it was not asked
 */
export async function verifyTotp(
  context: RequestContext<Process>,
  { userId, code, hasAlternative = false }: { userId: string; code: string; hasAlternative?: boolean },
  asked: AskedTotp | null = null,
): Promise<TotpVerdict> {
  if (!isCode(code)) return { ok: false, reason: "wrong" };
  const { tenant, now } = context;
  const { stored, attempt } = asked ?? (await beginAttempt(context, userId));
  // Throws if the key is not configured; then the attempt was not counted.
  const secret = stored && openSecret(context, userId, stored.sealedSecret);
  const admitted = await judgeSecondFactorAttempt(context, attempt);
  if (!admitted.ok) return admitted;

  const step = secret && (await stepOf(secret, code, now));
  if (stored === null || step === null || (admitted.locked && hasAlternative)) {
    return { ok: false, reason: "wrong" };
  }
  if (step <= stored.lastStep) return { ok: false, reason: "already_used" };
  return {
    ok: true,
    write: writeOf(
      {
        name: "otp",
        text: consumeText,
        values: [tenant.id, userId, stored.sealedSecret, step],
        refuses: "case when not exists (select 1 from otp) then 'otp' end",
        ofAccount: true,
      },
      admitted.success,
    ),
  };
}

// The code does not belong to a secret that replaced this one concurrently.
const consumeText = `otp as (
  update totp_secrets set last_step = $4
  where tenant_id = $1 and user_id = $2 and sealed_secret = $3 and last_step < $4 returning 1)`;

/** Adds the secret to an account; violates `totp_secrets_tenant_id_user_id_pk` if one was added concurrently. */
export function insertTotp(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  userId: string,
  { sealed, lastStep }: ConfirmedTotp,
): Write {
  return writeOf({
    name: "new_totp",
    text: insertText,
    values: [tenant.id, userId, Buffer.from(sealed, "base64url"), lastStep, now],
    ofAccount: true,
  });
}

const insertText = `new_totp as (
  insert into totp_secrets (tenant_id, user_id, sealed_secret, last_step, created_at) values ($1, $2, $3, $4, $5))`;

/** Deletes the secret of an account; its codes are rejected from the commit on. */
export function deleteTotp({ tenant }: Pick<RequestContext<unknown>, "tenant">, userId: string): Write {
  return async (tx) => {
    await tx
      .delete(totpSecrets)
      .where(and(eq(totpSecrets.tenantId, tenant.id), eq(totpSecrets.userId, userId)));
  };
}

/** The context that a secret is sealed for. */
export const totpSealContext = (tenantId: string, userId: string): string =>
  sealContext(totpSecrets, "sealedSecret", { tenantId, userId });

/** An attempt that was counted, and what it is verified by. */
export interface AskedTotp {
  stored: { sealedSecret: Buffer; lastStep: number } | null;
  attempt: CountedSecondFactor;
}

/**
 * Asks for what a TOTP code is verified by: the secret of the account, and the part of a statement that counts the attempt,
 * unless the secret is sealed by a key that is not configured.
 *
 * @param condition of whether to count it. Default: always
 */
export function askForTotp(
  context: ClientContext<Process>,
  userId: string,
  condition: Condition | null = null,
): { parts: Part[]; found(returned: object): AskedTotp } {
  const { runtime, tenant } = context;
  const keyIds = runtime.vault.keyIds.map((id) => Buffer.from(id, "hex"));
  const secret: Part = {
    name: "totp",
    text: secretText,
    values: [tenant.id, userId, keyIds],
    returns: "(select row_to_json(t) from totp t)",
  };
  const counting = askToCount(context, typed, userId, {
    name: condition ? `totp_${condition.name}` : "totp",
    sql: `${condition?.sql ?? "true"} and not exists (select 1 from totp where not known)`,
  });
  return {
    parts: [secret, counting.part],
    found(returned) {
      const { totp } = returned as { totp?: { sealed_secret: string; last_step: number } | null };
      return {
        stored: totp ? { sealedSecret: bytesOf(totp.sealed_secret), lastStep: totp.last_step } : null,
        attempt: counting.found(returned),
      };
    },
  };
}

/** Reads the secret and counts an attempt, in one statement, which commits. */
async function beginAttempt(context: RequestContext<Process>, userId: string): Promise<AskedTotp> {
  const question = askForTotp(context, userId);
  return question.found(await runTogether(context.runtime.database, question.parts, "claim"));
}

const secretText = `totp as (
  select sealed_secret, last_step,
    substring(sealed_secret from ${keyIdOf.sealed.start} for ${keyIdOf.sealed.length}) = any ($3::bytea[]) as known
  from totp_secrets where tenant_id = $1 and user_id = $2)`;

function openSecret({ runtime, tenant }: RequestContext<Process>, userId: string, sealed: Buffer): Buffer {
  return runtime.vault.unseal(sealed, totpSealContext(tenant.id, userId));
}

/** The time step of a code that is valid now; null if it is not. */
async function stepOf(secret: Buffer, token: string, now: Date): Promise<number | null> {
  const epoch = Math.floor(now.getTime() / 1000);
  const result = await verify({
    secret,
    token,
    epoch,
    period: STEP_SECONDS,
    epochTolerance: TOLERANCE_SECONDS,
    guardrails,
  });
  return result.valid && "timeStep" in result ? result.timeStep : null;
}

/** Whether a text is a code: six ASCII digits. An attempt with another text is not counted. */
export function isCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

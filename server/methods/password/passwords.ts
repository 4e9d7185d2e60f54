import { and, eq } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import { type Write, writeOf } from "#db/write";
import type { ClientContext, RequestContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import {
  ALL_SOURCES,
  ALL_SOURCES_OF_UNKNOWN,
  type Attempt,
  attemptPart,
  type CountedAttempt,
  consecutiveLimit,
  type FailureKey,
  failureSubject,
  growingDelay,
  judgeAttempt,
  KNOWN_BROWSERS,
  recordSuccess,
  successPart,
  unlimited,
  withdrawFailures,
} from "../../limits/failure-counters.ts";
import {
  type ChargedRow,
  type ChargeVerdict,
  type Condition,
  type RateLimited,
  type Rates,
  rateLimited,
  ratesAdmit,
} from "../../limits/rate-limits.ts";
import type { Logs } from "../../observability/logger.ts";
import { hasSignedInBefore } from "../../sessions/account-marks.ts";
import { hasPasscodesLeft } from "../passcode/passcodes.ts";
import { HashQueueFullError, type PasswordHashing } from "./password-hasher.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Logs & Sealing & PasswordHashing & Rates;

export interface PasswordAttempt {
  password: string;
  /** The identifier that the user entered, in canonical form. */
  identifier: string;
  /** The account with this identifier, if there is one. */
  userId?: string;
  /** Whether the account can sign in by another method, so that locking this one does not lock the account. */
  hasAlternative?: boolean;
  /** The recipient of mailed codes, if they are the only other method. */
  codesOnlyTo?: string;
}

export type PasswordVerdict =
  /** `write` records the success; it throws ConflictError("password") if the password was changed concurrently. */
  | { ok: true; write: Write }
  | { ok: false; reason: "wrong" }
  /** Rejected as a wrong one, because of too many failures in a row. */
  | { ok: false; reason: "locked" }
  /** Not verified: too many attempts. */
  | RateLimited;

/**
 * Verifies a password. Unknown accounts, accounts without a password and wrong passwords cost the same statements and
 * the same hash.
 *
 * The attempt is counted before it is verified: against the rate limits per source and per account and source, and as
 * a failure (`attemptPart`) per account and source, with a growing delay, and per account. After 100 consecutive
 * failures every password is rejected as wrong until another method succeeds, provided the account has one that can be
 * used: a passkey, or a code that may be mailed. Browsers that have signed in to the account before are counted apart.
 *
 * @param asked what `askForPassword` has found for this attempt; null if it was not asked
 * @throws HashQueueFullError if too many passwords are waiting; then the attempt is not counted as a failure
 */
export async function verifyPassword(
  context: RequestContext<Process>,
  attempt: PasswordAttempt,
  asked: BegunAttempt | null = null,
): Promise<PasswordVerdict> {
  const { runtime, tenant, client, signal } = context;
  const { passwordHasher, database } = runtime;
  const { userId } = attempt;
  const begun = asked ?? (await beginAttempt(context, attempt));
  const { counting, stored, counted } = begun;
  const rate = await begun.rate();
  if (!rate.ok) return rate;
  const { own, all } = await judgeAttempt(database, counting, counted);
  if (!own.ok) return own.reason === "rate_limited" ? own : rateLimited(1);

  const sources = [counting.own.source, ...(all.ok ? [counting.all.source] : [])];
  // The account may have lost its other method since the attempt was asked about.
  const isLocked = !all.ok && attempt.hasAlternative === true && !(await isOnlyMethodLeft(context, attempt));
  const { ok, outdated, tooCostly } = await passwordHasher
    .verify(attempt.password, isLocked ? null : stored, signal)
    .catch(async (error: unknown) => {
      // The attempt was not verified, and can be repeated.
      await withdrawFailures(database, counting, sources);
      throw error;
    });
  if (isLocked) return { ok: false, reason: "locked" };
  if (tooCostly !== undefined) {
    const line = { request_id: client.requestId, tenant: tenant.id, user_id: userId, limit: tooCostly };
    runtime.log.warn(
      line,
      "a stored password hash is too costly to verify: its user has to set a new password",
    );
  }
  if (!ok || stored === null) return { ok: false, reason: "wrong" };
  const renewed = outdated ? await renewedHash(context, attempt.password) : null;
  return {
    ok: true,
    write: acceptPassword(context, { ...counting, source: client.source }, userId ?? NIL_USER_ID, {
      stored,
      renewed,
    }),
  };
}

/** An attempt that was counted, and the hash to verify it by. */
export interface BegunAttempt {
  counting: Attempt;
  counted: CountedAttempt;
  stored: string | null;
  rate(): Promise<ChargeVerdict>;
}

/**
 * Asks for what a password is verified by: the part of a statement that charges the rate limits, that which counts the
 * attempt if they admit it, and the hash.
 *
 * @param condition of whether to charge and count it. Default: always
 * @returns null if the queue would not accept the password, which then must not be counted
 */
export function askForPassword(
  context: ClientContext<Process>,
  { userId, identifier, hasAlternative = false }: PasswordAttempt,
  condition: Condition | null = null,
): { parts: Part[]; found(returned: object): BegunAttempt } | null {
  const { runtime, tenant, client, now } = context;
  if (runtime.passwordHasher.full) return null;
  const charging = runtime.rates.charging(
    tenant.id,
    [
      { name: "password_source", subject: client.source },
      { name: "password", subject: `${identifier}/${client.source}` },
    ],
    condition ?? undefined,
  );
  const limited = tenant.config.rate_limiter.enabled;
  const together = hasSignedInBefore(context, userId ?? NIL_USER_ID) ? KNOWN_BROWSERS : ALL_SOURCES;
  const counting: Attempt = {
    tenantId: tenant.id,
    method: "password",
    subject: failureSubject(runtime.vault, tenant.id, userId ? { userId } : { identifier }),
    own: { source: client.source, limits: limited ? growingDelay : unlimited },
    all: {
      source: userId ? together : ALL_SOURCES_OF_UNKNOWN,
      limits: limited && hasAlternative ? consecutiveLimit : unlimited,
    },
    now,
  };
  const attempt = attemptPart(counting, charging ? ratesAdmit : condition);
  const hash: Part = {
    name: "hash",
    text: "",
    values: [tenant.id, userId ?? NIL_USER_ID],
    returns: "(select hash from passwords where tenant_id = $1 and user_id = $2)",
  };
  return {
    parts: [...(charging ? [charging.part] : []), attempt, hash],
    found(returned) {
      const values = returned as Record<string, unknown>;
      const charged = charging && (values[charging.part.name] as ChargedRow[] | undefined);
      return {
        counting,
        counted: (values[attempt.name] as CountedAttempt | undefined) ?? { own: null, all: null },
        stored: (values.hash as string | undefined) ?? null,
        rate: async () => (charging ? charging.verdict(charged ?? []) : { ok: true, exceeded: [] }),
      };
    },
  };
}

/** @throws HashQueueFullError if too many passwords are waiting; then the attempt is not counted */
async function beginAttempt(
  context: RequestContext<Process>,
  attempt: PasswordAttempt,
): Promise<BegunAttempt> {
  const question = askForPassword(context, attempt);
  if (!question) throw new HashQueueFullError();
  return question.found(await runTogether(context.runtime.database, question.parts, "claim"));
}

/** Whether strangers have used up the mailed codes that are the only other method of the account. */
async function isOnlyMethodLeft(
  context: RequestContext<Process>,
  attempt: PasswordAttempt,
): Promise<boolean> {
  const { codesOnlyTo: recipient } = attempt;
  return recipient !== undefined && !(await hasPasscodesLeft(context, { ...attempt, recipient }));
}

/** Sets or replaces the password of an account and resets its failures. */
export function replacePassword(
  { tenant, runtime, client, now }: RequestContext<Process>,
  userId: string,
  hash: string,
): Write {
  return async (tx) => {
    await tx
      .insert(schema.passwords)
      .values({ tenantId: tenant.id, userId, hash, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({
        target: [schema.passwords.tenantId, schema.passwords.userId],
        set: { hash, updatedAt: now },
      });
    const subject = failureSubject(runtime.vault, tenant.id, { userId });
    await recordSuccess(tx, { tenantId: tenant.id, method: "password", subject, source: client.source });
  };
}

/** Sets the first password of an account; violates `passwords_tenant_id_user_id_pk` if one was set concurrently. */
export function createPassword(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  userId: string,
  hash: string,
): Write {
  return writeOf({
    name: "new_password",
    text: createText,
    values: [tenant.id, userId, hash, now],
    ofAccount: true,
  });
}

const createText = `new_password as (
  insert into passwords (tenant_id, user_id, hash, created_at, updated_at) values ($1, $2, $3, $4, $4))`;

/** Deletes the password of an account. */
export function deletePassword({ tenant }: RequestContext<Process>, userId: string): Write {
  const { passwords } = schema;
  return async (tx) => {
    await tx.delete(passwords).where(and(eq(passwords.tenantId, tenant.id), eq(passwords.userId, userId)));
  };
}

/** Queried for unknown accounts, so that timing does not reveal them. */
const NIL_USER_ID = "00000000-0000-0000-0000-000000000000";

/** Hashes with the current parameters and pepper. Returns null if the queue is full. */
async function renewedHash(
  { runtime, signal }: RequestContext<Process>,
  password: string,
): Promise<string | null> {
  try {
    return await runtime.passwordHasher.hash(password, signal);
  } catch (error) {
    if (error instanceof HashQueueFullError) return null;
    throw error;
  }
}

const lockText = "password as (select hash from passwords where tenant_id = $1 and user_id = $2 for update)";

const renewText = `password as (
  update passwords set hash = $4, updated_at = $5 where tenant_id = $1 and user_id = $2 and hash = $3 returning $3 as hash)`;

function acceptPassword(
  { tenant, now }: RequestContext<Process>,
  counted: FailureKey,
  userId: string,
  { stored, renewed }: { stored: string; renewed: string | null },
): Write {
  // The password is rejected if it was replaced after it was verified.
  const refuses = "case when (select hash from password) is distinct from $3::text then 'password' end";
  const values = [tenant.id, userId, stored];
  const accepted: Part = renewed
    ? { name: "password_renewed", text: renewText, values: [...values, renewed, now], refuses }
    : { name: "password", text: lockText, values, refuses };
  return writeOf({ ...accepted, ofAccount: true }, successPart(counted));
}

import { and, eq } from "drizzle-orm";
import { type Database, type Databases, schema } from "#db/client";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import {
  ALL_SOURCES,
  ALL_SOURCES_OF_UNKNOWN,
  type Attempt,
  attemptPart,
  type CountedAttempt,
  consecutiveLimit,
  type FailureSubject,
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
  type ChargeVerdict,
  type Charging,
  type RateLimited,
  type Rates,
  rateLimited,
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
 * @throws HashQueueFullError if too many passwords are waiting; then the attempt is not counted as a failure
 */
export async function verifyPassword(
  context: RequestContext<Process>,
  attempt: PasswordAttempt,
): Promise<PasswordVerdict> {
  const { runtime, tenant, client, now, signal } = context;
  const { vault, rates, passwordHasher, database } = runtime;
  // An attempt that the queue would not accept must not be counted.
  if (passwordHasher.full) throw new HashQueueFullError();

  const { userId, identifier } = attempt;
  const subject = failureSubject(vault, tenant.id, userId ? { userId } : { identifier });
  const charging = rates.charging(tenant.id, [
    { name: "password_source", subject: client.source },
    { name: "password", subject: `${identifier}/${client.source}` },
  ]);
  const limited = tenant.config.rate_limiter.enabled;
  const key = { tenantId: tenant.id, method: "password", subject } as const;
  const together = hasSignedInBefore(context, userId ?? NIL_USER_ID) ? KNOWN_BROWSERS : ALL_SOURCES;
  const counting: Attempt = {
    ...key,
    own: { source: client.source, limits: limited ? growingDelay : unlimited },
    all: {
      source: userId ? together : ALL_SOURCES_OF_UNKNOWN,
      limits: limited && attempt.hasAlternative ? consecutiveLimit : unlimited,
    },
    now,
  };
  const { stored, rate, counted } = await beginAttempt(database, charging, counting, userId ?? NIL_USER_ID);
  if (!rate.ok) return rate;
  const { own, all } = await judgeAttempt(database, counting, counted);
  if (!own.ok) return own.reason === "rate_limited" ? own : rateLimited(1);

  const sources = [counting.own.source, ...(all.ok ? [counting.all.source] : [])];
  const isLocked = !all.ok && !(await isOnlyMethodLeft(context, attempt));
  const { ok, outdated, tooCostly } = await passwordHasher
    .verify(attempt.password, isLocked ? null : stored, signal)
    .catch(async (error: unknown) => {
      // The attempt was not verified, and can be repeated.
      await withdrawFailures(database, key, sources);
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
    write: acceptPassword(context, { ...key, source: client.source }, userId ?? NIL_USER_ID, {
      stored,
      renewed,
    }),
  };
}

/**
 * Charges the rate limits, counts the attempt if they admit it, and reads the hash: in one statement, which commits by
 * itself.
 */
async function beginAttempt(
  database: Database,
  charging: Charging | null,
  attempt: Attempt,
  userId: string,
): Promise<{ stored: string | null; rate: ChargeVerdict; counted: CountedAttempt }> {
  const hash: Part = {
    name: "hash",
    text: "",
    values: [attempt.tenantId, userId],
    returns: "(select hash from passwords where tenant_id = $1 and user_id = $2)",
  };
  const counting = attemptPart(attempt, charging !== null);
  const parts = [...(charging ? [charging.part] : []), counting, hash];
  const found = await runTogether<Begun>(database, parts, "claim");
  return {
    stored: found.hash ?? null,
    rate: charging ? await charging.verdict(found.rates ?? []) : { ok: true, exceeded: [] },
    counted: found.attempt ?? found.attempt_after_rates ?? { own: null, all: null },
  };
}

/** What the statement above returns. */
interface Begun {
  rates: Parameters<Charging["verdict"]>[0];
  attempt: CountedAttempt;
  attempt_after_rates: CountedAttempt;
  hash: string | null;
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
  counted: { tenantId: string; method: "password"; subject: FailureSubject; source: string },
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

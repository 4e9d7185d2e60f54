import { and, eq, gt, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Platform } from "../lib/platform.ts";
import {
  countFailure,
  failureSubject,
  hourly,
  MAX_CONSECUTIVE_FAILURES,
  recordSuccess,
  unlimited,
} from "../limits/failure-counters.ts";
import { type RateLimited, rateLimited } from "../limits/rate-limits.ts";
import type { MailJob } from "../mail/mail-job.ts";
import type { NoticeMail, PasscodeMail } from "../mail/messages.ts";
import type { RequestContext } from "../runtime.ts";

/** The subject of a passcode. A flow has one passcode at a time for each purpose and recipient. */
export interface PasscodeSubject {
  flowId: string;
  purpose: PasscodeMail;
  /** Canonical address to mail to; null if there is none, and then nothing is mailed. */
  recipient: string | null;
  /** The identifier that the user entered, in canonical form. */
  identifier: string;
  /** The account to sign in to, if there is one. */
  userId?: string;
  /** Whether the account can sign in by another method that an attacker cannot lock; see `verifyPasscode`. */
  hasAlternative?: boolean;
  /** There is no account, or the address is taken: every code is rejected, and `notice` is mailed, or nothing. */
  decoy: boolean;
  notice?: NoticeMail;
}

export type PasscodeSending =
  /** `jobs` send the code that `writes` store; both are empty if the current code is still valid. */
  | { ok: true; writes: Write[]; jobs: MailJob[] }
  /** Nothing is sent. */
  | RateLimited;

export type PasscodeVerdict =
  /** `write` consumes the code; it throws ConflictError("passcode") if it was consumed concurrently. */
  | { ok: true; write: Write }
  /** `wrong`: another code, none, or an expired one. `exhausted`: no attempts are left, a new code is needed. */
  | { ok: false; reason: "wrong" | "exhausted" }
  /** Not verified: too many wrong codes for this account. */
  | RateLimited;

/** Attempts for one code. */
const MAX_ATTEMPTS = 3;

/**
 * Sends a code unless there is one that has not expired. A code without attempts left counts too, so that going back
 * and forth neither sends another nor restores attempts. Sending consumes a rate token.
 */
export async function ensurePasscodeSent(
  context: RequestContext,
  about: PasscodeSubject,
): Promise<PasscodeSending> {
  const { runtime, now } = context;
  const rows = await selectUnexpired(runtime.database.read).execute({ ...keyOf(context, about), now });
  return rows.length > 0 ? { ok: true, writes: [], jobs: [] } : resendPasscode(context, about);
}

/**
 * Sends a new code, which consumes a rate token. It replaces the previous code and has three attempts of its own; the
 * account's failures stay counted (NIST SP 800-63B-4 section 3.1.3.2).
 */
export async function resendPasscode(
  context: RequestContext,
  about: PasscodeSubject,
): Promise<PasscodeSending> {
  const { runtime, tenant, client, now } = context;
  // The source first: flooding from one source consumes that source's tokens, not those of its victims.
  const source = await runtime.rates.consume("passcode_source", `${tenant.id}/${client.source}`);
  if (!source.ok) return source;
  const address = await runtime.rates.consume("passcode_address", `${tenant.id}/${about.identifier}`);
  if (!address.ok) return address;
  const isFlooded = await isMailboxFlooded(context, about);

  const code = newPasscode(runtime.platform);
  const ttlSeconds = tenant.config.email.passcode_ttl;
  const row = {
    // Random bytes are not the digest of any code.
    codeHash: about.decoy ? runtime.platform.randomBytes(32) : codeHashOf(context, about, code),
    tries: 0,
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
  };
  const { tenantId, flowId, purpose, recipient } = schema.passcodes;
  const write: Write = async (tx) => {
    await tx
      .insert(schema.passcodes)
      .values({ ...keyOf(context, about), ...row })
      .onConflictDoUpdate({ target: [tenantId, flowId, purpose, recipient], set: row });
  };
  const mailed = isFlooded ? { ...about, recipient: null } : about;
  return { ok: true, writes: [write], jobs: jobsFor(context, mailed, code, ttlSeconds) };
}

/**
 * Whether the mailbox of a username has received too many passcodes. Nothing is then sent and no error is returned: an
 * error would reveal which address belongs to which username.
 */
async function isMailboxFlooded(
  { runtime, tenant }: RequestContext,
  { recipient, identifier }: PasscodeSubject,
): Promise<boolean> {
  if (recipient === null || recipient === identifier) return false;
  return !(await runtime.rates.consume("passcode_address", `${tenant.id}/${recipient}`)).ok;
}

/**
 * Verifies a passcode. The attempt is counted first, in statements that commit by themselves: for the code, of which
 * attempts one to three are verified, and as a failure of the account (`countFailure`), limited per hour over all its
 * flows. Attempts that are not verified are not counted for the account.
 *
 * After 100 consecutive failures every code is rejected until another method succeeds, provided the account has one:
 * an attacker can lock a method but never the account. The verdicts stay the same, so they reveal nothing.
 */
export async function verifyPasscode(
  context: RequestContext,
  about: PasscodeSubject,
  code: string,
): Promise<PasscodeVerdict> {
  const { runtime, tenant, now } = context;
  const stored = await countAttempt(context, about);
  if (stored && stored.tries > MAX_ATTEMPTS) return { ok: false, reason: "exhausted" };

  const { enabled, wrong_passcodes_per_hour } = tenant.config.rate_limiter;
  const counted = {
    tenantId: tenant.id,
    method: "passcode",
    subject: failureSubjectOf(context, about),
    source: "",
  } as const;
  const limits = enabled ? hourly(wrong_passcodes_per_hour) : unlimited;
  const admitted = await countFailure(runtime.database, counted, limits, now);
  if (!admitted.ok) return admitted.reason === "rate_limited" ? admitted : rateLimited(1);
  const locked = enabled && about.hasAlternative === true && admitted.consecutive > MAX_CONSECUTIVE_FAILURES;

  if (!stored) return { ok: false, reason: "wrong" };
  const matches = constantTimeEqual(stored.codeHash, codeHashOf(context, about, code));
  if (matches && !about.decoy && !locked) {
    return { ok: true, write: consumePasscode(context, about, stored.codeHash, counted) };
  }
  return { ok: false, reason: stored.tries === MAX_ATTEMPTS ? "exhausted" : "wrong" };
}

/** Six random decimal digits, uniformly distributed. */
export function newPasscode({ randomBytes }: Pick<Platform, "randomBytes">): string {
  // The largest multiple of a million in three bytes: numbers above it would favour smaller codes.
  const end = 16_000_000;
  for (;;) {
    const number = randomBytes(3).readUIntBE(0, 3);
    if (number < end) return String(number % 1_000_000).padStart(6, "0");
  }
}

interface PasscodeKey {
  tenantId: string;
  flowId: string;
  purpose: PasscodeMail;
  recipient: Buffer;
}

function keyOf(
  { runtime, tenant }: RequestContext,
  { flowId, purpose, recipient, identifier }: PasscodeSubject,
): PasscodeKey {
  const recipientMac =
    recipient === null
      ? runtime.vault.mac("passcode_recipient", tenant.id, "identifier", identifier)
      : runtime.vault.mac("passcode_recipient", tenant.id, "address", recipient);
  return { tenantId: tenant.id, flowId, purpose, recipient: recipientMac };
}

/** The hash binds a code to its tenant, flow, purpose and mailbox. */
function codeHashOf(context: RequestContext, about: PasscodeSubject, code: string): Buffer {
  const { tenantId, flowId, purpose, recipient } = keyOf(context, about);
  return context.runtime.vault.mac("passcode", tenantId, flowId, purpose, recipient.toString("hex"), code);
}

/** Failures of verifying an address count for the mailbox, because the account may not exist yet. */
function failureSubjectOf({ runtime, tenant }: RequestContext, about: PasscodeSubject): Buffer {
  const { purpose, recipient, identifier, userId } = about;
  if (purpose === "email_verification") {
    return failureSubject(runtime.vault, tenant.id, { mailbox: recipient ?? identifier });
  }
  return failureSubject(runtime.vault, tenant.id, userId ? { userId } : { identifier });
}

/** Always returns one job, so that timing reveals neither accounts nor addresses. */
function jobsFor(
  { tenant, client }: RequestContext,
  about: PasscodeSubject,
  code: string,
  ttlSeconds: number,
): MailJob[] {
  const { recipient, decoy, purpose, notice } = about;
  const mail = decoy
    ? { type: notice ?? ("email_login_attempted" as const) }
    : { type: purpose, code, ttlSeconds };
  const to = decoy && !notice ? null : recipient;
  return [{ name: "send_mail", tenantId: tenant.id, to, language: client.language, mail }];
}

const { passcodes } = schema;

const selectUnexpired = prepared("passcode_unexpired", (db) =>
  db
    .select({ tries: passcodes.tries })
    .from(passcodes)
    .where(
      and(
        eq(passcodes.tenantId, sql.placeholder("tenantId")),
        eq(passcodes.flowId, sql.placeholder("flowId")),
        eq(passcodes.purpose, sql.placeholder("purpose")),
        eq(passcodes.recipient, sql.placeholder("recipient")),
        gt(passcodes.expiresAt, sql.placeholder("now")),
      ),
    ),
);

/** Counts an attempt for an unexpired code, and commits. */
async function countAttempt(
  context: RequestContext,
  about: PasscodeSubject,
): Promise<{ tries: number; codeHash: Buffer } | null> {
  const { database } = context.runtime;
  const { tenantId, flowId, purpose, recipient } = keyOf(context, about);
  const text = `update passcodes set tries = tries + 1
    where tenant_id = $1 and flow_id = $2 and purpose = $3 and recipient = $4 and expires_at > $5
    returning tries, code_hash as "codeHash"`;
  const values = [tenantId, flowId, purpose, recipient, context.now];
  const query = database.prepares ? { name: "passcode_try", text, values } : { text, values };
  const { rows } = await database.claim.$client.query(query);
  return rows[0] ?? null;
}

function consumePasscode(
  context: RequestContext,
  about: PasscodeSubject,
  codeHash: Buffer,
  counted: { tenantId: string; method: "passcode"; subject: Buffer; source: string },
): Write {
  const key = keyOf(context, about);
  return async (tx) => {
    await recordSuccess(tx, counted);
    const consumed = await tx
      .delete(passcodes)
      .where(
        and(
          eq(passcodes.tenantId, key.tenantId),
          eq(passcodes.flowId, key.flowId),
          eq(passcodes.purpose, key.purpose),
          eq(passcodes.recipient, key.recipient),
          eq(passcodes.codeHash, codeHash),
        ),
      )
      .returning({ tries: passcodes.tries });
    if (consumed.length === 0) throw new ConflictError("passcode");
  };
}

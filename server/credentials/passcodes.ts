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
  MAX_FAILURES_IN_A_ROW,
  refundFailure,
  unlimited,
} from "../limits/failure-counters.ts";
import type { MailJob } from "../mail/mail-job.ts";
import type { NoticeMail, PasscodeMail } from "../mail/messages.ts";
import type { RequestContext } from "../runtime.ts";

/** What a mailed code is about. One flow, one purpose and one recipient have one code at a time. */
export interface PasscodeSubject {
  flowId: string;
  purpose: PasscodeMail;
  /** Canonical address that mail goes to; null where there is none, and then nothing is mailed. */
  recipient: string | null;
  /** How the person named themselves, in canonical form. */
  identifier: string;
  /** The account to be let into, if there is one. */
  userId?: string;
  /** Whether the account has another way in that strangers cannot have barred; see `judgePasscode`. */
  hasAlternative?: boolean;
  /** True: no account, or an address that is taken. No code is accepted; `notice` is mailed, or nothing. */
  decoy: boolean;
  notice?: NoticeMail;
}

export interface PasscodeSending {
  writes: Write[];
  jobs: MailJob[];
  /** Nothing is sent: too many were. Whole seconds, at least 1. */
  limited?: { retryAfterSeconds: number };
}

export type PasscodeVerdict =
  /** `take` uses the code up; it throws TakenError("passcode") when somebody else did. */
  | { result: "right"; take: Write }
  /** Not the code, or there is none, or it has expired. */
  | { result: "wrong" }
  /** The third wrong try, and every later one: a new code must be asked for. */
  | { result: "exhausted" }
  /** Not judged: too many wrong codes for this account. Whole seconds, at least 1. */
  | { result: "limited"; retryAfterSeconds: number };

/** Tries of one code. */
const maxTries = 3;

/**
 * Sees to it that a code was sent: one that has not expired will do, even one whose tries are used up, so that going
 * back and forth neither sends another nor gives tries back. Sending takes a rate token.
 */
export async function ensurePasscodeSent(
  context: RequestContext,
  about: PasscodeSubject,
): Promise<PasscodeSending> {
  const { runtime, now } = context;
  const rows = await selectUnexpired(runtime.database.read).execute({ ...keyOf(context, about), now });
  return rows.length > 0 ? { writes: [], jobs: [] } : resendPasscode(context, about);
}

/**
 * Sends a new code, which takes a rate token. The one before is dead, the new one has its own three tries; the
 * account's failures stay counted (NIST SP 800-63B-4 section 3.1.3.2).
 */
export async function resendPasscode(
  context: RequestContext,
  about: PasscodeSubject,
): Promise<PasscodeSending> {
  const { runtime, tenant, client, now } = context;
  // The source first: who floods others from one place uses up the tokens of that place, not those of the others.
  const source = await runtime.rates.consume("passcode_source", `${tenant.id}/${client.source}`);
  if (!source.ok) return tooMany(source.retryAfterSeconds);
  const asked = await runtime.rates.consume("passcode_address", `${tenant.id}/${about.identifier}`);
  if (!asked.ok) return { writes: [], jobs: [], limited: asked };
  const floods = await floodsMailbox(context, about);

  const code = newPasscode(runtime.platform);
  const ttlSeconds = tenant.config.email.passcode_ttl;
  const row = {
    // Random bytes are the digest of no code.
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
  const mailed = floods ? { ...about, recipient: null } : about;
  return { writes: [write], jobs: jobsFor(context, mailed, code, ttlSeconds) };
}

/**
 * Whether a mailbox that was not itself named has had enough mail. Then nothing is sent and nothing is said: an
 * answer would tell whose address belongs to which username.
 */
async function floodsMailbox(
  { runtime, tenant }: RequestContext,
  { recipient, identifier }: PasscodeSubject,
): Promise<boolean> {
  if (recipient === null || recipient === identifier) return false;
  return !(await runtime.rates.consume("passcode_address", `${tenant.id}/${recipient}`)).ok;
}

const tooMany = (retryAfterSeconds: number): PasscodeSending => ({
  writes: [],
  jobs: [],
  limited: { retryAfterSeconds },
});

/**
 * Judges a code. The try is counted before that, in statements that commit by themselves: for the code, of which tries
 * one to three are judged, and for the account, which has so many wrong codes an hour over all its flows. Tries that
 * are not judged cost the account nothing.
 *
 * After a hundred wrong codes in a row no code is right any more, until another method succeeds, provided there is
 * one: strangers may bar a method and never an account. What is answered stays the same, so it tells nothing.
 */
export async function verifyPasscode(
  context: RequestContext,
  about: PasscodeSubject,
  code: string,
): Promise<PasscodeVerdict> {
  const { runtime, tenant, now } = context;
  const stored = await reserveTry(context, about);
  if (stored && stored.tries > maxTries) return { result: "exhausted" };

  const { enabled, wrong_passcodes_per_hour } = tenant.config.rate_limiter;
  const counted = {
    tenantId: tenant.id,
    method: "passcode",
    subject: failureSubjectOf(context, about),
    source: "",
  } as const;
  const limits = enabled ? hourly(wrong_passcodes_per_hour) : unlimited;
  const admitted = await countFailure(runtime.database, counted, limits, now);
  if (!admitted.ok) {
    return {
      result: "limited",
      retryAfterSeconds: "retryAfterSeconds" in admitted ? admitted.retryAfterSeconds : 1,
    };
  }
  const barred = enabled && about.hasAlternative === true && admitted.consecutive > MAX_FAILURES_IN_A_ROW;

  if (!stored) return { result: "wrong" };
  const right = constantTimeEqual(stored.codeHash, codeHashOf(context, about, code));
  if (right && !about.decoy && !barred) {
    return { result: "right", take: takeOf(context, about, stored.codeHash, counted) };
  }
  return { result: stored.tries === maxTries ? "exhausted" : "wrong" };
}

/** Six decimal digits, all equally likely. */
export function newPasscode({ randomBytes }: Pick<Platform, "randomBytes">): string {
  // The largest multiple of a million in three bytes: what lies above would favour the smaller codes.
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

/** A code is right in its own tenant, flow, purpose and mailbox only. */
function codeHashOf(context: RequestContext, about: PasscodeSubject, code: string): Buffer {
  const { tenantId, flowId, purpose, recipient } = keyOf(context, about);
  return context.runtime.vault.mac("passcode", tenantId, flowId, purpose, recipient.toString("hex"), code);
}

/** Whoever verifies an address attacks the mailbox, under whatever account the flow is about to make. */
function failureSubjectOf({ runtime, tenant }: RequestContext, about: PasscodeSubject): Buffer {
  const { purpose, recipient, identifier, userId } = about;
  if (purpose === "email_verification") {
    return failureSubject(runtime.vault, tenant.id, { mailbox: recipient ?? identifier });
  }
  return failureSubject(runtime.vault, tenant.id, userId ? { userId } : { identifier });
}

/** One job, whoever is asked for and whether or not there is anybody to write to. */
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
  const to = !decoy || notice ? recipient : null;
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

/** Counts a try of an unexpired code, and commits. */
async function reserveTry(
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

function takeOf(
  context: RequestContext,
  about: PasscodeSubject,
  codeHash: Buffer,
  counted: { tenantId: string; method: "passcode"; subject: Buffer; source: string },
): Write {
  const key = keyOf(context, about);
  return async (tx) => {
    await refundFailure(tx, counted);
    const taken = await tx
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
    if (taken.length === 0) throw new ConflictError("passcode");
  };
}

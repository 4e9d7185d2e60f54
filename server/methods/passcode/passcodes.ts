import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import { bytesOf } from "#db/json-row";
import type { Part } from "#db/part";
import { passcodes } from "#db/schema/flows";
import { runTogether } from "#db/together";
import { type Write, writeOf } from "#db/write";
import type { Config } from "../../config/schema.ts";
import type { ClientContext, RequestContext } from "../../context/context.ts";
import { type Sealing, splitDigest } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import {
  ALL_SOURCES,
  ALL_SOURCES_OF_UNKNOWN,
  type CountsRow,
  countsPart,
  type FailureKey,
  failureSubject,
  hourly,
  MAX_CONSECUTIVE_FAILURES,
  readCounts,
  secondsToWait,
  sourceWaits,
  successPart,
  verifiedAttemptPart,
} from "../../limits/failure-counters.ts";
import {
  type Charge,
  type ChargedRow,
  type ChargeVerdict,
  type Condition,
  type RateLimited,
  type Rates,
  rateLimited,
} from "../../limits/rate-limits.ts";
import { hasSignedInBefore } from "../../sessions/account-marks.ts";
import type { MailedCode } from "../mailed-link/mailed-link.ts";
import { byMail } from "./by-mail.ts";
import type { PasscodeChannel, PasscodeSubject } from "./passcode-channel.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Sealing & Rates;

export type PasscodeSending<Job> =
  /** `jobs` send the code that `writes` store; both are empty if the current code is still valid. */
  | { ok: true; writes: Write[]; jobs: Job[] }
  /** Nothing is sent. */
  | RateLimited;

export type PasscodeVerdict =
  /** `write` consumes the code; it throws ConflictError("passcode") if it was consumed concurrently. */
  | { ok: true; write: Write }
  /** `wrong`: another code, none, or an expired one. `exhausted`: no attempts are left, a new code is needed. */
  | { ok: false; reason: "wrong" | "exhausted" };

/** Attempts for one code. */
const MAX_ATTEMPTS = 3;

/**
 * Sends a code unless there is one that has not expired. A code without attempts left counts too, so that going back
 * and forth neither sends another nor restores attempts. Sending consumes a rate token.
 *
 * @param asked what `askToSend` has found for this code; null if it was not asked
 */
export async function ensurePasscodeSent<Purpose extends string, Job>(
  context: RequestContext<Process>,
  about: PasscodeSubject<Purpose, Job>,
  asked: AskedToSend | null = null,
): Promise<PasscodeSending<Job>> {
  const begun = begunBy(context, about, asked ?? (await ask(context, askToSend(context, about))));
  return begun.isSent ? { ok: true, writes: [], jobs: [] } : issuePasscode(context, about, begun);
}

/**
 * Sends a new code, which consumes rate tokens. It replaces the previous code and has three attempts of its own; the
 * account's failures stay counted (NIST SP 800-63B-4 section 3.1.3.2).
 *
 * The limits apply here and not to attempts: a code that was sent is always verified, so an attacker cannot make the
 * owner's correct code fail. The number of codes bounds the number of guesses.
 */
export async function resendPasscode<Purpose extends string, Job>(
  context: RequestContext<Process>,
  about: PasscodeSubject<Purpose, Job>,
): Promise<PasscodeSending<Job>> {
  return issuePasscode(
    context,
    about,
    begunBy(context, about, await ask(context, askToResend(context, about))),
  );
}

async function issuePasscode<Purpose extends string, Job>(
  context: RequestContext<Process>,
  about: PasscodeSubject<Purpose, Job>,
  begun: BegunSending,
): Promise<PasscodeSending<Job>> {
  const { runtime, tenant, now } = context;
  const { channel } = about;
  const issued = await permitSending(context, about, begun);
  if (!issued.ok) return issued;

  const code = channel.newCode(runtime.platform, tenant.config);
  const ttlSeconds = channel.ttlSeconds(tenant.config);
  const row = {
    digest: about.decoy || issued.withheld ? decoyDigest(runtime) : digestOf(context, about, code),
    tries: 0,
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
  };
  const keys = keysOf(context, about);
  const write = storePasscode(keys, row);
  // Made for a decoy too, whose message has none: the time tells nothing.
  const link = channel.link(runtime, tenant, {
    ...keys[0],
    purpose: about.purpose,
    code,
    expiresAt: row.expiresAt,
  });
  const job = channel.job(context, about, { code, link, ttlSeconds, isWithheld: issued.withheld });
  return { ok: true, writes: [write], jobs: [job] };
}

/**
 * Decides whether a code may be issued, and consumes the tokens of its limits.
 *
 * All limits are counted by the identifier that the user entered, known or not, so that they reveal nothing about
 * accounts. Those of the account and of its mailbox are counted too, because several identifiers lead to them; they are
 * never reported, since an error would reveal which identifiers belong together. A browser that has signed in to the
 * account before gets a code from a reserve when strangers have used up a limit.
 *
 * @returns `withheld`: nothing may be mailed, and no code is correct
 */
async function permitSending(
  context: RequestContext<Process>,
  about: AnySubject,
  { failures, rates }: BegunSending,
): Promise<{ ok: true; withheld: boolean } | RateLimited> {
  const { runtime, tenant } = context;
  if (!rates) return { ok: true, withheld: false };
  const charged = failures.ok ? await rates.verdict() : failures;
  const withheld = charged.ok && (charged.exceeded.length > 0 || (failures.ok && failures.locked));
  if (charged.ok && !withheld) return { ok: true, withheld: false };

  const { userId } = about;
  // A recipient to be verified is not the account's yet: with the reserve, each account could be made to send it more.
  if (userId && proofOf(about) !== "recipient" && hasSignedInBefore(context, userId)) {
    const reserve = { name: "passcode_reserve", subject: scoped(about, userId) } as const;
    const reserved = await runtime.rates.consumeAll(tenant.id, [
      ...(charged.ok ? [] : [paceOf(context, about)]),
      reserve,
      ...channelCharges(context, about, { isReserved: true }),
    ]);
    if (reserved.ok && reserved.exceeded.length === 0) return { ok: true, withheld: false };
  }
  return charged.ok ? { ok: true, withheld } : charged;
}

/** A subject of any channel, where what it sends does not matter. */
type AnySubject = Omit<PasscodeSubject<string, unknown>, "channel"> & {
  channel: Omit<PasscodeChannel<string, unknown>, "job">;
};

const proofOf = ({ channel, purpose }: Pick<AnySubject, "channel" | "purpose">) => channel.proofs[purpose];

const scoped = ({ channel }: Pick<AnySubject, "channel">, subject: string) =>
  `${channel.limitScope}${subject}`;

function paceOf({ client }: ClientContext<Process>, about: AnySubject) {
  return { name: "passcode_pace", subject: `${scoped(about, about.identifier)}/${client.source}` } as const;
}

function channelCharges(
  { client }: ClientContext<Process>,
  { channel, recipient, identifier, purpose }: AnySubject,
  { isReserved = false }: { isReserved?: boolean } = {},
): Charge[] {
  return channel.charges(recipient, { identifier, source: client.source, purpose, isReserved });
}

/** All limits of a code but the reserve. */
function chargesOf(context: ClientContext<Process>, about: AnySubject): Charge[] {
  const { source } = context.client;
  const [identifier, mailbox, account] = limitsForAllSources(about);
  const pace = paceOf(context, about);
  return [
    pace,
    { name: "passcode_source", subject: source },
    { name: "passcode_requester", subject: pace.subject },
    identifier,
    { ...mailbox, quiet: true },
    { name: "passcode_mailbox_requester", subject: `${mailbox.subject}/${source}`, quiet: true },
    { ...account, quiet: true },
    { name: "passcode_account_requester", subject: `${account.subject}/${source}`, quiet: true },
    ...channelCharges(context, about),
  ];
}

/** The limits of a code that all sources share. */
function limitsForAllSources(about: Parameters<typeof accountOf>[0]) {
  const { identifier, recipient } = about;
  return [
    { name: "passcode_identifier", subject: scoped(about, identifier) },
    { name: "passcode_mailbox", subject: scoped(about, recipient ?? identifier) },
    { name: "passcode_account", subject: scoped(about, JSON.stringify(accountOf(about))) },
  ] as const;
}

/**
 * Whether another code may be mailed to sign in to an account, as far as all sources together are concerned: strangers
 * can use codes up.
 */
export function hasPasscodesLeft(
  { runtime, tenant }: Pick<RequestContext<Process>, "runtime" | "tenant">,
  of: Pick<AnySubject, "identifier" | "recipient" | "userId">,
): Promise<boolean> {
  return runtime.rates.available(
    tenant.id,
    limitsForAllSources({ ...of, channel: byMail, purpose: "login" }),
  );
}

const wrongCodes = ({ rate_limiter }: Config) => hourly(rate_limiter.wrong_passcodes_per_hour);

/**
 * What the failures of an account mean for its next code. After too many from one source in an hour, that source gets
 * no further code. `locked`: after 100 consecutive failures from all sources, none is issued until a method succeeds,
 * provided the account has another method: an attacker can lock a method but never the account.
 */
function failuresOf(
  { tenant, client, now }: RequestContext<Process>,
  about: AnySubject,
  counts: readonly CountsRow[],
): { ok: true; locked: boolean } | RateLimited {
  const { fromSource, total } = readCounts(client, counts);
  const wait = fromSource ? secondsToWait(fromSource, wrongCodes(tenant.config), now) : 0;
  if (wait > 0) return rateLimited(wait);
  const locked = about.hasAlternative === true && (total?.consecutive ?? 0) >= MAX_CONSECUTIVE_FAILURES;
  return { ok: true, locked };
}

/**
 * Verifies a passcode. The attempt is counted first, in statements that commit by themselves: for the code, of which
 * attempts one to three are verified, and as a failure of the account, which limits further codes (`resendPasscode`).
 * Attempts that are not verified are not counted for the account.
 *
 * @param asked what `askForPasscode` has found for this attempt; null if it was not asked
 */
export async function verifyPasscode(
  context: RequestContext<Process>,
  about: AnySubject,
  code: string,
  asked: TriedPasscode | null = null,
): Promise<PasscodeVerdict> {
  const { counted, stored } = asked ?? (await tryPasscode(context, about));
  if (!stored) await assertNoneUnknown(context, about);
  if (!stored) return { ok: false, reason: "wrong" };
  if (stored.tries > MAX_ATTEMPTS) return { ok: false, reason: "exhausted" };
  const matches = context.runtime.vault.matches(stored.codeHash, ...hashed(stored, normalizePasscode(code)));
  if (matches && !about.decoy) {
    return { ok: true, write: consumePasscode(stored, counted) };
  }
  return { ok: false, reason: stored.tries === MAX_ATTEMPTS ? "exhausted" : "wrong" };
}

/**
 * Whether a code that was mailed is still valid: neither used nor replaced nor expired, and with attempts left. Counts no
 * attempt, so it is asked about a code that this service has sealed itself, and never about one that a client chose.
 *
 * @throws UnknownKeyError if the stored code is under a key that is not configured
 */
export async function isValidPasscode(
  { runtime, tenant, now }: ClientContext<Process>,
  { flowId, purpose, recipient, code }: MailedCode,
): Promise<boolean> {
  const [stored] = await runtime.database.read
    .select({ digest: sql<Buffer>`coalesce(${passcodes.keyId}, '') || ${passcodes.codeHash}` })
    .from(passcodes)
    .where(
      and(
        eq(passcodes.tenantId, tenant.id),
        eq(passcodes.flowId, flowId),
        eq(passcodes.purpose, purpose),
        eq(passcodes.recipient, recipient),
        gt(passcodes.expiresAt, now),
        lt(passcodes.tries, MAX_ATTEMPTS),
      ),
    );
  if (!stored) return false;
  runtime.vault.assertKnown("digest", stored.digest);
  const parts = hashed({ tenantId: tenant.id, flowId, purpose, recipient }, code);
  return runtime.vault.matches(splitDigest(stored.digest).mac, ...parts);
}

/** Whether a mailed code is that of this purpose and mailbox, for which a flow waits. */
export function isMailedFor(
  { runtime, tenant }: ClientContext<Process>,
  { purpose, recipient }: MailedCode,
  awaited: { purpose: MailedCode["purpose"]; recipient?: string | undefined },
): boolean {
  if (purpose !== awaited.purpose || awaited.recipient === undefined) return false;
  return recipientMacs({ runtime, tenant }, "address", awaited.recipient).some((mac) =>
    mac.equals(recipient),
  );
}

/** Returns a code as it was mailed: codes have no small letters. */
function normalizePasscode(entered: string): string {
  return entered.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
}

interface PasscodeKey {
  tenantId: string;
  flowId: string;
  purpose: string;
  recipient: Buffer;
}

/** The primary keys that the subject's code may have, one for each secret key: the first for a new code. */
function keysOf(
  { runtime, tenant }: ClientContext<Process>,
  { flowId, purpose, recipient, identifier }: AnySubject,
): [PasscodeKey, ...PasscodeKey[]] {
  const macs =
    recipient === null
      ? recipientMacs({ runtime, tenant }, "identifier", identifier)
      : recipientMacs({ runtime, tenant }, "address", recipient);
  const [first, ...others] = macs.map((mac) => ({ tenantId: tenant.id, flowId, purpose, recipient: mac }));
  if (!first) throw new Error("a vault has at least one key");
  return [first, ...others];
}

function recipientMacs(
  { runtime, tenant }: Pick<RequestContext<Process>, "runtime" | "tenant">,
  kind: "address" | "identifier",
  named: string,
): Buffer[] {
  return runtime.vault.macs("passcode_recipient", tenant.id, kind, named);
}

function digestOf(context: RequestContext<Process>, about: AnySubject, code: string): Buffer {
  const [key] = keysOf(context, about);
  return context.runtime.vault.digest(...hashed(key, code));
}

/** The hash binds a code to its tenant, flow, purpose and mailbox. */
function hashed({ tenantId, flowId, purpose, recipient }: PasscodeKey, code: string): [string, ...string[]] {
  return ["passcode", tenantId, flowId, purpose, recipient.toString("hex"), code];
}

/** A digest that no code has, and that looks like any other. */
function decoyDigest({ vault, platform }: Process): Buffer {
  return vault.digest("passcode_decoy", platform.randomBytes(32).toString("hex"));
}

/** Whose code it is. Verifying a recipient concerns it alone, because the account may not exist yet. */
function accountOf(
  about: Pick<AnySubject, "channel" | "purpose" | "recipient" | "identifier" | "userId">,
): { mailbox: string } | { userId: string } | { identifier: string } | { secondFactorOf: string } {
  const { recipient, identifier, userId } = about;
  const proof = proofOf(about);
  if (proof === "recipient") return { mailbox: recipient ?? identifier };
  if (userId === undefined) return { identifier };
  return proof === "second_factor" ? { secondFactorOf: userId } : { userId };
}

function failureKeyOf({ runtime, tenant, client }: ClientContext<Process>, about: AnySubject): FailureKey {
  const subject = failureSubject(runtime.vault, tenant.id, accountOf(about));
  return { tenantId: tenant.id, method: about.channel.method, subject, source: client.source };
}

interface PasscodeRow {
  /** As PostgreSQL writes bytes into JSON. */
  recipient: string;
  code_hash: string;
  /** Of the code, preceded by the id of its key if it is known. */
  digest: string;
}

/**
 * The part of a statement that reads the unexpired codes of a flow for a purpose; `own`: those of the subject; `known`:
 * those whose key is configured, or that name none.
 */
function unexpiredPart(context: ClientContext<Process>, about: AnySubject): Part {
  const keys = keysOf(context, about);
  const keyIds = context.runtime.vault.keyIds.map((id) => Buffer.from(id, "hex"));
  const [{ tenantId, flowId, purpose }] = keys;
  return {
    name: "unexpired",
    text: `unexpired as (
      select coalesce(key_id, '') || code_hash as digest, recipient = any ($5::bytea[]) as own,
        key_id is null or key_id = any ($6::bytea[]) as known
      from passcodes
      where tenant_id = $1 and flow_id = $2 and purpose = $3 and expires_at > $4)`,
    values: [tenantId, flowId, purpose, context.now, keys.map(({ recipient }) => recipient), keyIds],
    returns: "(select coalesce(json_agg(u), '[]') from unexpired u)",
  };
}

interface UnexpiredRow {
  /** Of the code, preceded by the id of its key if it is known. */
  digest: string;
  own: boolean;
}

/**
 * Whether one of these codes is the subject's.
 *
 * @throws UnknownKeyError if one may be, under a key that is not configured: its recipient cannot be recognised
 */
function isOwn({ runtime: { vault } }: RequestContext<Process>, rows: readonly UnexpiredRow[]): boolean {
  if (rows.some(({ own }) => own)) return true;
  for (const { digest } of rows) vault.assertKnown("digest", bytesOf(digest));
  return false;
}

/** What is known before a code is sent. */
interface BegunSending {
  /** The current code is still valid. */
  isSent: boolean;
  failures: ReturnType<typeof failuresOf>;
  /** Null if limits are off; not to be judged after failures that have to wait. */
  rates: { verdict(): Promise<ChargeVerdict> } | null;
}

/** What was read and charged before a code is sent. */
export interface AskedToSend {
  unexpired: readonly UnexpiredRow[];
  counts: readonly CountsRow[];
  rates: BegunSending["rates"];
}

type SendingQuestion = { parts: Part[]; found(returned: object): AskedToSend };

/**
 * Asks for what the sending of a code depends on: the parts of a statement that read the current code and the failures of the
 * account, and charge the limits if a code is to be sent.
 *
 * @param condition of whether to charge them. Default: always
 */
export function askToSend(
  context: ClientContext<Process>,
  about: AnySubject,
  condition: Condition | null = null,
): SendingQuestion {
  return sendingQuestion(context, about, [unexpiredPart(context, about)], {
    name: condition ? `unless_sent_${condition.name}` : "unless_sent",
    sql: `not ${sourceWaits} and not exists (select 1 from unexpired where own or not known)
      and ${condition?.sql ?? "true"}`,
  });
}

/** The same for a new code in place of the current one. */
const askToResend = (context: ClientContext<Process>, about: AnySubject): SendingQuestion =>
  sendingQuestion(context, about, [], { name: "unless_waiting", sql: `not ${sourceWaits}` });

function sendingQuestion(
  context: ClientContext<Process>,
  about: AnySubject,
  read: Part[],
  charged: Condition,
): SendingQuestion {
  const { runtime, tenant, now } = context;
  const counts = countsPart(failureKeyOf(context, about), wrongCodes(tenant.config), now);
  const charging = runtime.rates.charging(tenant.id, chargesOf(context, about), charged);
  return {
    parts: [...read, counts, ...(charging ? [charging.part] : [])],
    found(returned) {
      const values = returned as { unexpired?: UnexpiredRow[]; counts?: CountsRow[] };
      const rows = charging && (returned as Record<string, ChargedRow[] | undefined>)[charging.part.name];
      return {
        unexpired: values.unexpired ?? [],
        counts: values.counts ?? [],
        rates: charging && { verdict: () => charging.verdict(rows ?? []) },
      };
    },
  };
}

/** Asks in a statement of its own, which commits. */
async function ask(
  { runtime }: RequestContext<Process>,
  { parts, found }: SendingQuestion,
): Promise<AskedToSend> {
  return found(await runTogether(runtime.database, parts, "claim"));
}

/** @throws UnknownKeyError as `isOwn` does; then nothing was charged */
function begunBy(
  context: RequestContext<Process>,
  about: AnySubject,
  { unexpired, counts, rates }: AskedToSend,
): BegunSending {
  return { isSent: isOwn(context, unexpired), failures: failuresOf(context, about, counts), rates };
}

interface StoredPasscode extends PasscodeKey {
  tries: number;
  codeHash: Buffer;
}

const tryText = (condition: string) => `tried as (
  update passcodes set tries = tries + 1
  where tenant_id = $1 and flow_id = $2 and purpose = $3 and recipient = any ($4::bytea[]) and expires_at > $5
    and ${condition}
  returning recipient, tries, code_hash, coalesce(key_id, '') || code_hash as digest)`;

/** An attempt that was counted. */
export interface TriedPasscode {
  counted: FailureKey;
  /** The unexpired code; null if there is none. */
  stored: StoredPasscode | null;
}

/**
 * Asks for what a code is verified by: the part of a statement that counts an attempt for an unexpired code and, if it
 * will be verified, that which counts it for the account.
 *
 * @param condition of whether to count it. Default: always
 * @throws UnknownKeyError when it is found, if the code may be under a key that is not configured
 */
export function askForPasscode(
  context: ClientContext<Process>,
  about: AnySubject,
  condition: Condition | null = null,
): { parts: Part[]; found(returned: object): TriedPasscode } {
  const keys = keysOf(context, about);
  const [{ tenantId, flowId, purpose }] = keys;
  const tried: Part = {
    name: condition ? `tried_${condition.name}` : "tried",
    text: tryText(condition?.sql ?? "true"),
    values: [tenantId, flowId, purpose, keys.map(({ recipient }) => recipient), context.now],
    returns: "(select row_to_json(t) from tried t limit 1)",
  };
  const account = accountOf(about);
  const all = "userId" in account || "secondFactorOf" in account ? ALL_SOURCES : ALL_SOURCES_OF_UNKNOWN;
  const isVerified = { name: "passcode", sql: `exists (select 1 from tried where tries <= ${MAX_ATTEMPTS})` };
  const counted = failureKeyOf(context, about);
  return {
    parts: [tried, verifiedAttemptPart(counted, all, context.now, isVerified)],
    found(returned) {
      const row = (returned as Record<string, (PasscodeRow & { tries: number }) | undefined>)[tried.name];
      if (!row) return { counted, stored: null };
      // Its key may have been removed since.
      context.runtime.vault.assertKnown("digest", bytesOf(row.digest));
      const [recipient, codeHash] = [bytesOf(row.recipient), bytesOf(row.code_hash)];
      return { counted, stored: { tenantId, flowId, purpose, recipient, codeHash, tries: row.tries } };
    },
  };
}

/** Counts an attempt in one statement, which commits. */
async function tryPasscode(context: RequestContext<Process>, about: AnySubject): Promise<TriedPasscode> {
  const { parts, found } = askForPasscode(context, about);
  return found(await runTogether(context.runtime.database, parts, "claim"));
}

/** @throws UnknownKeyError if the code may be under a key that is not configured; then nothing is counted */
async function assertNoneUnknown(context: RequestContext<Process>, about: AnySubject): Promise<void> {
  const { database } = context.runtime;
  const part = unexpiredPart(context, about);
  const { unexpired = [] } = await runTogether<{ unexpired: UnexpiredRow[] }>(database, [part], "claim");
  isOwn(context, unexpired);
}

const storeText = `replaced as (
    delete from passcodes
    where tenant_id = $1 and flow_id = $2 and purpose = $3 and recipient = any ($4::bytea[])),
  issued as (
    insert into passcodes as code
      (tenant_id, flow_id, purpose, recipient, code_hash, key_id, tries, created_at, expires_at)
    values ($1, $2, $3, $5, $6, $7, $8, $9, $10)
    on conflict (tenant_id, flow_id, purpose, recipient) do update set
      code_hash = excluded.code_hash, key_id = excluded.key_id, tries = excluded.tries,
      created_at = excluded.created_at, expires_at = excluded.expires_at)`;

interface NewPasscode {
  /** As `Vault.digest` returns it. */
  digest: Buffer;
  tries: number;
  createdAt: Date;
  expiresAt: Date;
}

/** Stores a code in place of the previous one, and of one that a server with the keys in another order has sent. */
function storePasscode(
  [{ tenantId, flowId, purpose, recipient }, ...formerKeys]: [PasscodeKey, ...PasscodeKey[]],
  { digest, tries, createdAt, expiresAt }: NewPasscode,
): Write {
  const former = formerKeys.map((key) => key.recipient);
  const { keyId, mac: codeHash } = splitDigest(digest);
  const values = [tenantId, flowId, purpose, former, recipient, codeHash, keyId, tries, createdAt, expiresAt];
  return writeOf({ name: "new_passcode", text: storeText, values });
}

const consumeText = `passcode as (
  delete from passcodes
  where tenant_id = $1 and flow_id = $2 and purpose = $3 and recipient = $4 and code_hash = $5 returning 1)`;

function consumePasscode(stored: StoredPasscode, counted: FailureKey): Write {
  const { tenantId, flowId, purpose, recipient, codeHash } = stored;
  const consumed: Part = {
    name: "passcode",
    text: consumeText,
    values: [tenantId, flowId, purpose, recipient, codeHash],
    refuses: "case when not exists (select 1 from passcode) then 'passcode' end",
  };
  return writeOf(consumed, successPart(counted));
}

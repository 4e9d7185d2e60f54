import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { RequestContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import type { Platform } from "../../lib/platform.ts";
import type { CountedMethod } from "../../limits/failure-counters.ts";
import type { Charge } from "../../limits/rate-limits.ts";
import type { NoticeMail } from "../../mail/messages.ts";
import type { ChannelName } from "../../messages/channels.ts";
import type { MailedCode } from "../mailed-link/mailed-link.ts";

/** How codes are sent, and what differs by it. */
export interface PasscodeChannel<Purpose extends string, Job> {
  /** What carries them. */
  readonly name: ChannelName;
  /** In counters of failures. */
  readonly method: Extract<CountedMethod, "passcode" | "sms">;
  /**
   * What a code proves: a factor of an account; or that the visitor owns a recipient, which need not be an account's yet.
   * Failures of a second factor are counted apart, so that a correct first factor does not reset them.
   */
  readonly proofs: Readonly<Record<Purpose, "first_factor" | "second_factor" | "recipient">>;
  /** Precedes the subjects of limits, so that the codes of one channel do not use up those of another. */
  readonly limitScope: string;
  ttlSeconds(config: Config): number;
  newCode(platform: Pick<Platform, "randomBytes">, config: Config): string;
  /** Returns the link that stands for a code; null if messages have none. */
  link(
    runtime: Sealing,
    tenant: Tenant,
    of: Omit<MailedCode, "purpose"> & { purpose: Purpose },
  ): string | null;
  /** What sending costs beyond the code; charged with the limits of the code, and with the reserve. */
  charges(
    recipient: string | null,
    details: { identifier: string; source: string; purpose: Purpose; isReserved: boolean },
  ): Charge[];
  /** Returns a job in any case, so that timing reveals neither accounts nor recipients. */
  job(
    context: Pick<RequestContext<unknown>, "tenant" | "client" | "hasStoredWebhooks">,
    about: PasscodeSubject<Purpose, Job>,
    issued: IssuedPasscode,
  ): Job;
}

/** A code to send. */
export interface IssuedPasscode {
  code: string;
  link: string | null;
  ttlSeconds: number;
  /** Limits forbid to send it, which the visitor may not see. */
  isWithheld: boolean;
}

/** The subject of a passcode. A flow has one passcode at a time for each purpose and recipient. */
export interface PasscodeSubject<Purpose extends string, Job> {
  channel: PasscodeChannel<Purpose, Job>;
  flowId: string;
  purpose: Purpose;
  /** Canonical address or number to send to; null if there is none, and then nothing is sent. */
  recipient: string | null;
  /** The identifier that the user entered, in canonical form. */
  identifier: string;
  /** The account to sign in to, if there is one. */
  userId?: string;
  /** Whether the account can sign in by another method that an attacker cannot lock; see `resendPasscode`. */
  hasAlternative?: boolean;
  /** There is no account, or the recipient is taken: every code is rejected, and `notice` is mailed, or nothing. */
  decoy: boolean;
  notice?: NoticeMail;
}

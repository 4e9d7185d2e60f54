import type { PgTable } from "drizzle-orm/pg-core";
import type { z } from "zod";
import type { schema } from "#db/client";
import type { Factor } from "#db/schema/sessions";
import type { Write } from "#db/write";
import type { AuditType } from "../audit/audit-types.ts";
import type { Condition } from "../conditions/condition.ts";
import type { Capable } from "../conditions/leaves.ts";
import type { Config } from "../config/schema.ts";
import type { RequestContext } from "../context/context.ts";
import type { UserFacts } from "../identity/facts.ts";
import type { IdentifierFacts, VerifiedIdentifier } from "../identity/identifiers.ts";
import type { MailFactor } from "../mail/messages.ts";
import type { UserObject } from "../objects/user-object.ts";
import type { Moving } from "./moving.ts";

/**
 * The record of a way to prove who one is: one folder of `server/methods` exports one, and `server/methods/index.ts` lists
 * them. What the service does with all methods alike is derived from these records: which states a sign-in passes through,
 * what a session says of it, what an account is left with when something is removed, and `docs/reference/methods.md`.
 */
export interface Method {
  /** In factors of sessions, audit entries and statistics. */
  readonly name: Exclude<Factor["method"], "registration">;
  /** What its credentials are, for documentation: a noun in the plural. */
  readonly credentials: string;
  /** The tables whose rows are its credentials; none where an identifier of the account is what it proves. */
  readonly tables: readonly CredentialTable[];
  /** Whether an account has at most one row of it. */
  readonly isSingle: boolean;
  /** Whether an account has it. */
  readonly has: (facts: MethodFacts) => boolean;
  /** The member of the facts that says so, where it is one of its own. */
  readonly fact: MethodFact | null;
  /** What a registration that creates it keeps until it creates the account; null if no registration can. */
  readonly pending: Pending | null;
  /** How its credentials are exported and imported; null if they are not, or with those of another method. */
  readonly moving: Moving | null;
  /** How users and operators remove it, where that is all there is to say; null if code of its own removes it. */
  readonly removal: Removal | null;
  /** The `amr` of a session (RFC 8176), as clients of the protocol know it. @param provider of the factor */
  readonly amr: (provider?: string) => string;
  readonly strength: Strength;
  /** How it begins a sign-in; null if it does not. */
  readonly firstFactor: FirstFactor | null;
  /** How it follows a first factor; null if it does not. */
  readonly secondFactor: SecondFactor | null;
}

/** Tables whose rows are credentials of an account. */
export type CredentialTable = {
  [Name in keyof typeof schema]: (typeof schema)[Name] extends PgTable & {
    userId: unknown;
    tenantId: unknown;
  }
    ? Name
    : never;
}[keyof typeof schema];

/** Members of the pending data of a registration. Former releases have stored them, so that they keep their names. */
export interface Pending {
  readonly member: string;
  readonly schema: z.ZodType;
  /** A member for what is set up and not confirmed yet. It is dropped when the registration gets another identifier. */
  readonly unconfirmed: { readonly member: string; readonly schema: z.ZodType } | null;
  /** Stores it in the account, which the same step creates. */
  readonly store: (context: RequestContext<object>, userId: string, value: never) => Write;
}

/** Declares a member of pending data with the function that stores it. */
export function pendingAs<const Member extends string, Schema extends z.ZodType>(
  member: Member,
  schema: Schema,
  store: (context: RequestContext<object>, userId: string, value: z.output<Schema>) => Write,
) {
  return { member, schema, store, unconfirmed: null };
}

/** How a second factor of which an account has one is removed. Its owner is told by mail. */
export interface Removal {
  readonly write: (context: Pick<RequestContext<unknown>, "tenant">, userId: string) => Write;
  readonly audit: AuditType;
  /** What operators are told that it is: "an", "authenticator app", and "app" where that was said before. */
  readonly article: "a" | "an";
  readonly noun: string;
  readonly short: string;
  /** The action of the account page. */
  readonly action: string;
  readonly description: string;
  /** The operations of the administration interface that show and remove it. */
  readonly administration: {
    /** Below the address of the user. */
    readonly path: string;
    /** In the ids of the operations, after their verbs. */
    readonly id: string;
    readonly schema: z.ZodType;
    /** The member of the user object that has this schema. */
    readonly member: keyof UserObject;
  };
}

/** Facts of an account that say which methods it has. */
export type MethodFact = Extract<keyof UserFacts, `has${string}`>;

/** What is known of an account where methods are judged. */
export type MethodFacts = Pick<UserFacts, MethodFact> & IdentifierFacts;

/** NIST SP 800-63B-4, 2 and 3.1. */
export interface Strength {
  /** Whether it alone is multi-factor authentication: never, or where the factor says that the user was verified. */
  readonly isMultiFactor: "never" | "if_user_verified";
  readonly resistsPhishing: boolean;
}

export interface FirstFactor {
  /** The state in which it is verified. The engine, which knows the states, compares this name and those below. */
  readonly state: string;
  /** Whether it tells which account it is of; otherwise the sign-in needs a login identifier. */
  readonly identifies: boolean;
  /**
   * Whether an identifier leads to it: `always`, so that the states do not reveal what an account has; `if_shown`, only where
   * the configuration shows the actual methods of accounts; `never`.
   */
  readonly followsIdentifier: "always" | "if_shown" | "never";
  readonly enabled: Condition<{ config: Config }>;
  /** That this client can use it. */
  readonly usable: Condition<Capable>;
  /** The action that chooses it after an identifier; null if it is offered by an action of its own. */
  readonly choice: { readonly action: string; readonly description: string } | null;
  /** The kind of identifier that its code is sent to; null if it is no code that is sent. */
  readonly codeTo: VerifiedIdentifier["kind"] | null;
}

export type SecondFactor =
  /** Stands in for a lost second factor, inside the states of the others. */
  { readonly kind: "substitute" } | OwnSecondFactor;

/** A second factor that an account can have alone. */
export interface OwnSecondFactor {
  readonly kind: "own";
  /** The lowest that the account has and the client can use is asked for; those that resist phishing come first. */
  readonly rank: number;
  /** The state in which it is verified. */
  readonly state: string;
  /** The action that switches to it from another one; null if none does. */
  readonly switch: { readonly action: string; readonly description: string } | null;
  /** Whether an account that has the method has it as a second factor. Default: always. */
  readonly isSetUp?: (facts: MethodFacts) => boolean;
  /** That `mfa`, which is enabled, accepts it. */
  readonly accepted: Condition<{ config: Pick<Config, "mfa"> }>;
  /** That this client can use it. */
  readonly usable: Condition<Capable & { config: Pick<Config, "mfa"> }>;
  /** How a user sets it up in a flow; null if applications do. */
  readonly enrolment: null | {
    readonly state: string;
    readonly action: string;
    readonly description: string;
    readonly audit: AuditType;
  };
  /** How the mails that tell the owner of a change name it; null if they are mails of their own. */
  readonly notice: MailFactor | null;
  /** Whether it counts as the account's even while it is not accepted, so that recovery codes are kept for it. */
  readonly outlastsSettings: boolean;
  /**
   * Whether it counts only while the account has no other accepted one, whatever the client says that it can use. It is
   * not set up beside another second factor, or beside a method that resists phishing.
   */
  readonly isLastResort?: boolean;
}

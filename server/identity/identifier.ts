import type { schema } from "#db/client";
import type { ConflictReason, UniqueConstraint } from "#db/errors";
import type { Part } from "#db/part";
import type { Config } from "../config/schema.ts";

/**
 * The record of a kind of identifier: a name of an account, by which a sign-in can begin. One folder of `server/identity`
 * exports each, and `server/identity/identifiers.ts` lists them. What flows, rules and documents do with all kinds alike
 * is derived from these records.
 */
export interface Identifier {
  /** The section of its settings, and its member of facts, of the data of flows, and of their inputs. */
  readonly kind: "email" | "username" | "phone";
  readonly table: "emails" | "usernames" | "phoneNumbers";
  readonly column: string;
  /** The member of facts that says whether its owner has proved it; null if there is no proof of it. */
  readonly verified: "emailVerified" | "phoneVerified" | null;
  /**
   * Whether a new one counts only after a code that was sent to it. If it does, the states do not tell whether another
   * account has it; a public one, such as a username, is reported as taken.
   */
  readonly requiresVerification: (config: Config) => boolean;
  /** The field in which a user enters it, with its bounds in characters. */
  readonly field: (config: Config) => IdentifierField;
  /** Reads it as a user wrote it. */
  readonly parse: (text: string, config: Config) => ParsedIdentifier;
  /** Whether a text is one rather than an identifier of another kind; null for the kind that any other text is. */
  readonly isLike: ((text: string, config: Config) => boolean) | null;
  readonly errors: {
    /** No account has it. */
    readonly unknown: string;
    /** Another account has it. */
    readonly taken: string;
    /** What `parse` can find wrong. */
    readonly invalid: readonly string[];
    /** Those among them that a sign-in reports as they are; it reports the others as `value_invalid_error`. */
    readonly atLogin: readonly string[];
  };
  readonly constraints: {
    /** Violated if another account of the tenant has it. */
    readonly taken: UniqueConstraint;
    /** Violated if the account itself has one. */
    readonly second: UniqueConstraint;
    /** The row that a change expects is not there. */
    readonly changed: ConflictReason;
  };
  /** The state in which a sign-in asks an account for it. The engine, which knows the states, compares this name. */
  readonly askedIn: string;
  /** The part that adds the first one to an account. */
  readonly part: (tenantId: string, identifier: NewIdentifier, ifTaken: IfTaken) => Part;
}

export interface IdentifierField {
  readonly type: "string" | "email" | "tel";
  readonly minLength: number;
  readonly maxLength: number;
}

/** An identifier in canonical form, or why a text is none. */
export type ParsedIdentifier<Reason extends string = string> =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: Reason };

/** The first identifier of its kind for an account. */
export interface NewIdentifier {
  userId: string;
  /** In canonical form. */
  value: string;
  /** Ignored by kinds that cannot be verified. */
  verifiedAt: Date | null;
  id: string;
  now: Date;
}

/** What follows if an account of the tenant has it: the constraint violation, or the conflict `address` of an email. */
export type IfTaken = "violation" | "conflict";

/** A table of identifiers. */
export type IdentifierTable = (typeof schema)[Identifier["table"]];

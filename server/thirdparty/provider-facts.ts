import { z } from "zod";
import { parseEmailAddress } from "../identity/email/email-address.ts";

/** A provider's facts about a user, independent of the protocol. */
export const providerFacts = z.strictObject({
  /** `google`, `custom_<key>`, or `saml:<entity id>`. */
  provider: z.string().min(1).max(512),
  /** The user's id at the provider; unique and never reused (OpenID Connect Core 1.0, 5.7). */
  subject: z.string().min(1).max(512),
  /** In canonical form; null if the provider states none, or an invalid one. */
  email: z.string().nullable(),
  /** Whether the provider has verified the address. */
  emailVerified: z.boolean(),
  name: z.string().optional(),
  givenName: z.string().optional(),
  familyName: z.string().optional(),
  /** An http(s) URL. */
  picture: z.string().optional(),
  /** The tenant trusts this provider for the second factor too. */
  satisfiesMfa: z.boolean(),
  /** The address counts as verified without a passcode. */
  skipEmailVerification: z.boolean(),
});

export type ProviderFacts = z.output<typeof providerFacts>;

/** A provider's response before validation. */
export interface ProviderStatement {
  subject: unknown;
  email?: unknown;
  emailVerified?: unknown;
  name?: unknown;
  givenName?: unknown;
  familyName?: unknown;
  picture?: unknown;
}

/** The tenant's settings of the provider. */
export interface ProviderTrust {
  provider: string;
  satisfiesMfa: boolean;
  skipEmailVerification?: boolean;
}

const MAX_TEXT_LENGTH = 256;
const MAX_PICTURE_URL_LENGTH = 2048;

/**
 * Validates a provider's statement. Invalid addresses, pictures without an http(s) URL and empty names are dropped. Only
 * `true` or `"true"` makes an address verified.
 *
 * @param maxEmailLength `email.max_length`
 * @returns null if there is no valid subject
 */
export function toProviderFacts(
  statement: ProviderStatement,
  trust: ProviderTrust,
  maxEmailLength: number,
): ProviderFacts | null {
  const subject = subjectOf(statement.subject);
  if (subject === null) return null;
  const email =
    typeof statement.email === "string" ? parseEmailAddress(statement.email, maxEmailLength) : null;
  return {
    provider: trust.provider,
    subject,
    email,
    emailVerified: email !== null && (statement.emailVerified === true || statement.emailVerified === "true"),
    ...optional("name", text(statement.name)),
    ...optional("givenName", text(statement.givenName)),
    ...optional("familyName", text(statement.familyName)),
    ...optional("picture", pictureOf(statement.picture)),
    satisfiesMfa: trust.satisfiesMfa,
    skipEmailVerification: trust.skipEmailVerification ?? false,
  };
}

/** A subject is compared byte for byte, so it is never altered. Some providers use numbers. */
function subjectOf(value: unknown): string | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== "string" || value.length === 0 || value.length > 512) return null;
  return value.isWellFormed() && !value.includes("\0") ? value : null;
}

/** Returns display text without control characters and lone surrogates, limited in length. */
function text(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const cleaned = value
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return cleaned === "" ? null : [...cleaned].slice(0, MAX_TEXT_LENGTH).join("");
}

function pictureOf(value: unknown): string | null {
  if (typeof value !== "string" || value.length > MAX_PICTURE_URL_LENGTH || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

function optional<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: string };
}

import { z } from "zod";
import type { Metadata } from "#db/schema/users";
import type { ExportedMember } from "#db/tables";
import { MAX_METADATA_CHARACTERS } from "../identity/metadata.ts";
import { MAX_PICTURE_CHARACTERS } from "../identity/picture.ts";
import { isNestedDeeperThan } from "../lib/nesting.ts";

/** A time; stored with a precision of a millisecond. In UTC its year has four digits, as in an export. */
const moment = z.iso
  .datetime({ offset: true, error: "is not a time like 2026-01-31T12:00:00Z" })
  .refine((text) => {
    const date = new Date(text);
    return !Number.isNaN(date.getTime()) && /^(?!0000)\d{4}-/.test(date.toISOString());
  }, "is before the year 1 or after the year 9999");

/** Not a record of zod, which leaves out a member with the name `__proto__`. */
const metadata = z
  .custom<Metadata>(isObject, "is not an object")
  .refine(
    (value) => JSON.stringify(value).length <= MAX_METADATA_CHARACTERS,
    `has more than ${MAX_METADATA_CHARACTERS} characters`,
  );

const shortText = z.string().min(1).max(256);

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, "is not base64url");

const email = z.strictObject({
  address: z.string(),
  is_primary: z.boolean().default(false),
  is_verified: z.boolean().default(false),
  verified_at: moment.nullish(),
  created_at: moment.nullish(),
});

const passkey = z.strictObject({
  /** The credential id. */
  id: base64url.max(1_364, "is longer than 1023 bytes"),
  /** COSE_Key */
  public_key: base64url,
  /** `user.id` of the ceremony that created it, at most 64 bytes; absent if it is the id of the user. */
  user_handle: base64url.max(86, "is longer than 64 bytes").nullish(),
  sign_count: z.int().min(0).max(0xffff_ffff).default(0),
  /** Not a UUID of RFC 9562: some manufacturers ignore its version and variant bits. */
  aaguid: z.guid().default("00000000-0000-0000-0000-000000000000"),
  attestation_type: z.string().max(32).default("none"),
  transports: z.array(z.string().min(1).max(32)).max(16).default([]),
  backup_eligible: z.boolean().default(false),
  backup_state: z.boolean().default(false),
  user_verified: z.boolean().default(false),
  /** Whether it is a security key, which is only a second factor. */
  mfa_only: z.boolean().default(false),
  name: shortText.nullish(),
  last_used_at: moment.nullish(),
  created_at: moment.nullish(),
});

const totp = z.strictObject({
  /** In base 32, for HMAC-SHA-1, six digits and time steps of 30 seconds. */
  secret: z.string().max(256),
  /** Codes of this and earlier time steps are rejected. */
  last_step: z.int().min(0).max(0x7fff_ffff).default(0),
  created_at: moment.nullish(),
});

/** Digests, which only the tenant with the secret keys that they were made with can verify. */
const recoveryCodes = z.strictObject({
  tenant_id: z.guid(),
  digests: z.array(base64url.max(128)).max(100),
});

/** Both are in one index, whose entries have at most 2704 bytes. */
const atMostBytes = (bytes: number) =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= bytes, `is longer than ${bytes} bytes`);

const identity = z.strictObject({
  provider: atMostBytes(256),
  subject: atMostBytes(1_024),
  email: z.string().max(1_024).nullish(),
  created_at: moment.nullish(),
});

/**
 * A user as a line of JSON, which `stile users export` writes and `stile users import` reads. Its members are those that
 * tables say they are exported as.
 */
export const userRecord = z.strictObject({
  id: z.guid().toLowerCase().nullish(),
  name: shortText.nullish(),
  given_name: shortText.nullish(),
  family_name: shortText.nullish(),
  picture: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .nullish(),
  /** A picture that the user uploaded, in place of `picture`: JPEG. */
  picture_file: base64url
    .max(MAX_PICTURE_CHARACTERS, `is longer than ${MAX_PICTURE_CHARACTERS} characters`)
    .nullish(),
  emails: z.array(email).max(100).default([]),
  username: z.string().nullish(),
  /** argon2 as a PHC string, bcrypt, scrypt, PBKDF2: see `server/methods/password/imported-hashes.ts`. */
  password_hash: z.string().max(1_024).nullish(),
  password_set_at: moment.nullish(),
  public_metadata: metadata.default({}),
  private_metadata: metadata.default({}),
  unsafe_metadata: metadata.default({}),
  passkeys: z.array(passkey).max(100).default([]),
  totp: totp.nullish(),
  recovery_codes: recoveryCodes.nullish(),
  identities: z.array(identity).max(100).default([]),
  /** Language of mails, a tag of BCP 47. */
  language: z.string().max(16).nullish(),
  blocked_at: moment.nullish(),
  created_at: moment.nullish(),
  updated_at: moment.nullish(),
} satisfies Record<ExportedMember, z.ZodType>);

export type UserRecord = z.output<typeof userRecord>;

/** What converters of other forms return; not validated yet. */
export type UserRecordInput = z.input<typeof userRecord>;

/** Levels of nesting in a record. More than metadata of the greatest length can have, and few enough for recursion. */
const MAX_LEVELS = 2_000;

/**
 * Parses a record, or a value that is in it as text.
 *
 * @throws SyntaxError if it is not JSON, RangeError if it is nested too deeply
 */
export function parseRecord(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isNestedDeeperThan(value, MAX_LEVELS)) throw new RangeError("nested too deeply");
  return value;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { z } from "zod";

/** A moment; kept to the millisecond. */
const moment = z.iso.datetime({ offset: true, error: "is not a time like 2026-01-31T12:00:00Z" });

/** At most so many characters of JSON, as in the accounts themselves. */
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 3_000, "has more than 3000 characters");

const shortText = z.string().min(1).max(256);

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, "is not base64url");

const email = z.strictObject({
  address: z.string(),
  is_primary: z.boolean().default(false),
  is_verified: z.boolean().default(false),
});

const passkey = z.strictObject({
  /** The credential id. */
  id: base64url.max(1_364, "is longer than 1023 bytes"),
  /** COSE_Key */
  public_key: base64url,
  sign_count: z.int().min(0).max(0xffff_ffff).default(0),
  /** Not every maker keeps to the bits that RFC 9562 gives a meaning. */
  aaguid: z.guid().default("00000000-0000-0000-0000-000000000000"),
  attestation_type: z.string().max(32).default("none"),
  transports: z.array(z.string().min(1).max(32)).max(16).default([]),
  backup_eligible: z.boolean().default(false),
  backup_state: z.boolean().default(false),
  user_verified: z.boolean().default(false),
  /** A security key, which serves as a second factor alone. */
  mfa_only: z.boolean().default(false),
  name: shortText.nullish(),
  created_at: moment.optional(),
});

const identity = z.strictObject({
  provider: shortText,
  subject: z.string().min(1).max(1_024),
  email: z.string().nullish(),
});

/** One user, as a line of JSON: what `stile users export` writes and `stile users import` reads. */
export const userLine = z.strictObject({
  id: z.uuid().optional(),
  name: shortText.nullish(),
  given_name: shortText.nullish(),
  family_name: shortText.nullish(),
  picture: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .nullish(),
  emails: z.array(email).max(100).default([]),
  username: z.string().nullish(),
  /** argon2id, as a PHC string. */
  password_hash: z.string().max(512).nullish(),
  public_metadata: metadata.default({}),
  private_metadata: metadata.default({}),
  unsafe_metadata: metadata.default({}),
  passkeys: z.array(passkey).max(100).default([]),
  identities: z.array(identity).max(100).default([]),
  created_at: moment.optional(),
});

export type UserLine = z.output<typeof userLine>;

/** A line that cannot become a user. `message` says why, and repeats nothing that stands in it. */
export class LineError extends Error {}

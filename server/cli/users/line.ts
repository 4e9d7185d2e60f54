import { z } from "zod";

const MAX_METADATA_CHARACTERS = 3_000;

/** A time; stored with a precision of a millisecond. */
const moment = z.iso.datetime({ offset: true, error: "is not a time like 2026-01-31T12:00:00Z" });

/** Has the limit of the metadata of accounts. */
const metadata = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= MAX_METADATA_CHARACTERS,
    "has more than 3000 characters",
  );

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
  created_at: moment.optional(),
});

const identity = z.strictObject({
  provider: shortText,
  subject: z.string().min(1).max(1_024),
  email: z.string().nullish(),
});

/** A user as a line of JSON, which `stile users export` writes and `stile users import` reads. */
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

/** A rejected line. `message` is the reason and contains no data of the line. */
export class LineError extends Error {}

import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { decodeBase64url } from "../../lib/base64url.ts";
import { importCredentialKey } from "../../webauthn/cose-key.ts";
import { legacyUserHandle } from "../../webauthn/user-handle.ts";
import { movedBytes, movedName, movedTime } from "../moved-values.ts";
import { exportedBytes, exportedRows, hexOf, movingAs } from "../moving.ts";

const passkey = z.strictObject({
  /** The credential id. */
  id: movedBytes.max(1_364, "is longer than 1023 bytes"),
  /** COSE_Key */
  public_key: movedBytes,
  /** `user.id` of the ceremony that created it, at most 64 bytes; absent if it is the id of the user. */
  user_handle: movedBytes.max(86, "is longer than 64 bytes").nullish(),
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
  name: movedName.nullish(),
  last_used_at: movedTime.nullish(),
  created_at: movedTime.nullish(),
});

/** Passkeys and security keys are one list. They enter only if the public key can be used here. */
export const webauthnMoving = movingAs({
  table: "webauthn_credentials",
  shape: { passkeys: z.array(passkey).max(100).default([]) },
  exported: {
    passkeys: exportedRows(
      "webauthn_credentials",
      `o.id, ${exportedBytes("o.public_key")} as public_key, ${exportedBytes("o.user_handle")} as user_handle,
      o.sign_count, o.aaguid, o.attestation_type, o.transports, o.backup_eligible, o.backup_state, o.user_verified,
      o.mfa_only, o.name, ${isoTime("o.last_used_at")} as last_used_at, ${isoTime("o.created_at")} as created_at`,
      "o.created_at, o.id",
    ),
  },
  columns: {
    id: "text",
    public_key: "bytea",
    user_handle: "bytea",
    sign_count: "bigint",
    aaguid: "text",
    attestation_type: "text",
    transports: "text[]",
    backup_eligible: "boolean",
    backup_state: "boolean",
    user_verified: "boolean",
    mfa_only: "boolean",
    name: "text",
    last_used_at: "timestamptz",
  },
  key: { kind: "passkey", columns: ["id"], taken: "a passkey is in use, or listed twice" },
  rows({ passkeys }, { userId, createdAt }) {
    for (const { id, public_key, user_handle } of passkeys) {
      if (!decodeBase64url(id)) return { ok: false, reason: "the id of a passkey is not base64url" };
      if (user_handle && !decodeBase64url(user_handle))
        return { ok: false, reason: "the user handle of a passkey is not base64url" };
      if (!importCredentialKey(Buffer.from(public_key, "base64url")))
        return { ok: false, reason: "the public key of a passkey is not supported" };
    }
    const rows = passkeys.map((passkey) => ({
      ...passkey,
      public_key: hexOf(Buffer.from(passkey.public_key, "base64url")),
      user_handle: handleOf(passkey.user_handle, userId),
      aaguid: passkey.aaguid.toLowerCase(),
      created_at: passkey.created_at ?? createdAt,
    }));
    return { ok: true, rows };
  },
});

/**
 * The handle that a passkey was made with; the id of the user, if the source names none. It is recorded in either case:
 * only passkeys of this service's former versions record none, and their accounts go on with the id as handle.
 */
function handleOf(handle: string | null | undefined, userId: string): string {
  return hexOf(handle ? Buffer.from(handle, "base64url") : legacyUserHandle(userId));
}

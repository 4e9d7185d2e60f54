import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { movedTime } from "../moved-values.ts";
import { exportedValue, hexOf, movingAs } from "../moving.ts";
import {
  decodeTotpSecret,
  encodeTotpSecret,
  MAX_IMPORTED_SECRET_BYTES,
  MIN_IMPORTED_SECRET_BYTES,
  totpSealContext,
} from "./totp.ts";

const totp = z.strictObject({
  /** In base 32, for HMAC-SHA-1, six digits and time steps of 30 seconds. */
  secret: z.string().max(256),
  /** Codes of this and earlier time steps are rejected. */
  last_step: z.int().min(0).max(0x7fff_ffff).default(0),
  created_at: movedTime.nullish(),
});

/** A secret leaves unsealed. */
export const totpMoving = movingAs({
  table: "totp_secrets",
  shape: { totp: totp.nullish() },
  exported: {
    totp: exportedValue(
      "totp_secrets",
      `json_build_object('sealed', encode(o.sealed_secret, 'hex'), 'last_step', o.last_step,
        'created_at', ${isoTime("o.created_at")})`,
    ),
  },
  unsealed(
    { sealed, last_step, created_at }: { sealed: string; last_step: number; created_at: string },
    { vault, tenantId, userId },
  ) {
    const secret = vault.unseal(Buffer.from(sealed, "hex"), totpSealContext(tenantId, userId));
    return { secret: encodeTotpSecret(secret), last_step, created_at };
  },
  columns: { sealed_secret: "bytea", last_step: "bigint" },
  rows({ totp }, { tenant, vault, userId, createdAt }) {
    if (!totp) return { ok: true, rows: [] };
    const secret = importedSecret(totp.secret);
    if (!secret) return { ok: false, reason: "totp.secret is not a secret in base 32" };
    const sealed = vault.seal(secret, totpSealContext(tenant.id, userId));
    const { last_step, created_at } = totp;
    return {
      ok: true,
      rows: [{ sealed_secret: hexOf(sealed), last_step, created_at: created_at ?? createdAt }],
    };
  },
  removeInvalid(record) {
    if (!record.totp || importedSecret(record.totp.secret)) return null;
    record.totp = null;
    return "secret of the authenticator app (not base 32, or of another length)";
  },
});

/** Decodes a secret; null if it is not base 32, or has a length that no code can be verified with. */
function importedSecret(text: string): Buffer | null {
  const secret = decodeTotpSecret(text);
  const fits =
    secret !== null &&
    secret.length >= MIN_IMPORTED_SECRET_BYTES &&
    secret.length <= MAX_IMPORTED_SECRET_BYTES;
  return fits ? secret : null;
}

import { z } from "zod";
import { DIGEST_BYTES, splitDigest, UnknownKeyError, type Vault } from "../../keys/vault.ts";
import { movedBytes } from "../moved-values.ts";
import { exportedBytes, exportedValue, hexOf, movingAs } from "../moving.ts";

/** Digests, which only the tenant with the secret keys that they were made with can verify. */
const recoveryCodes = z.strictObject({
  tenant_id: z.guid(),
  digests: z.array(movedBytes.max(128)).max(100),
});

/** Digests enter where the codes are still valid: in the same tenant, for the same user, under the same keys. */
export const recoveryCodeMoving = movingAs({
  table: "recovery_codes",
  shape: { recovery_codes: recoveryCodes.nullish() },
  exported: {
    recovery_codes: exportedValue(
      "recovery_codes",
      `case when count(*) = 0 then null else json_build_object('tenant_id', u.tenant_id, 'digests',
        array_agg(${exportedBytes("coalesce(o.key_id, '') || o.code_hash")} order by o.code_hash)) end`,
    ),
  },
  columns: { key_id: "bytea", code_hash: "bytea" },
  rows({ recovery_codes: codes }, { tenant, vault, keepsId, createdAt }) {
    if (!codes) return { ok: true, rows: [] };
    const isHere = keepsId && codes.tenant_id === tenant.id;
    const digests = isHere ? verifiableDigests(codes.digests, vault) : null;
    if (!digests)
      return { ok: true, rows: [], omitted: "recovery_codes (of another tenant, user or secret key)" };
    const rows = digests.map(splitDigest).map(({ keyId, mac }) => ({
      key_id: hexOf(keyId),
      code_hash: hexOf(mac),
      created_at: createdAt,
    }));
    return { ok: true, rows };
  },
});

/** Decodes digests; null if one was made with a key that is not configured. */
function verifiableDigests(texts: readonly string[], vault: Vault): Buffer[] | null {
  const digests = [...new Set(texts)].map((digest) => Buffer.from(digest, "base64url"));
  try {
    // Digests of a version that did not name the key are not told apart from damaged ones.
    for (const digest of digests) {
      if (digest.length !== DIGEST_BYTES) return null;
      vault.assertKnown("digest", digest);
    }
  } catch (error) {
    if (error instanceof UnknownKeyError) return null;
    throw error;
  }
  return digests;
}

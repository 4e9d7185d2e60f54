import { handlesSealContext } from "../authenticator/devices.ts";
import { totpSealContext } from "../credentials/totp.ts";
import type { SealedColumn } from "../keys/sealed-columns.ts";
import { signingKeySealContext } from "../keys/signing-key-store.ts";
import { settingsContext } from "../tenants/sealed-settings.ts";

/** Every sealed column of the database. `stile secrets reseal` seals their values with a new key. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    holds: "a signing key",
    table: "signing_keys",
    column: "sealed_private_jwk",
    key: ["tenant_id", "id"],
    reads: ["purpose"],
    sealedBy: "sealed_by",
    context: ({ tenant_id = "", purpose = "", id = "" }) => signingKeySealContext(tenant_id, purpose, id),
  },
  {
    holds: "the secret of an authenticator app",
    table: "totp_secrets",
    column: "sealed_secret",
    key: ["tenant_id", "user_id"],
    context: ({ tenant_id = "", user_id = "" }) => totpSealContext(tenant_id, user_id),
  },
  {
    holds: "the push handles of an authenticator",
    table: "authenticator_devices",
    column: "sealed_handles",
    key: ["tenant_id", "id"],
    context: ({ tenant_id = "", id = "" }) => handlesSealContext(tenant_id, id),
  },
  {
    holds: "the settings of a tenant",
    table: "tenants",
    column: "sealed_config",
    key: ["id"],
    context: ({ id = "" }) => settingsContext(id),
  },
];

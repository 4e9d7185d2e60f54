import { handlesSealContext } from "../authenticator/devices.ts";
import { eventDataContext, previousSecretContext, webhookSecretContext } from "../events/seal-contexts.ts";
import type { KeyedValues } from "../keys/key-status.ts";
import type { SealedColumn } from "../keys/sealed-columns.ts";
import { signingKeySealContext } from "../keys/signing-key-store.ts";
import { totpSealContext } from "../methods/totp/totp.ts";
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
  {
    holds: "the secret of a webhook",
    table: "webhooks",
    column: "sealed_secret",
    key: ["tenant_id", "id"],
    context: ({ tenant_id = "", id = "" }) => webhookSecretContext(tenant_id, id),
  },
  {
    holds: "the previous secret of a webhook",
    table: "webhooks",
    column: "sealed_previous_secret",
    key: ["tenant_id", "id"],
    context: ({ tenant_id = "", id = "" }) => previousSecretContext(tenant_id, id),
  },
  {
    holds: "a mail for a webhook",
    table: "events",
    column: "sealed_data",
    key: ["tenant_id", "id"],
    context: ({ tenant_id = "", id = "" }) => eventDataContext(tenant_id, id),
  },
];

const sealedForMinutes = { kind: "sealed", after: "expiry" } as const;

/** Every kind of values that the database holds under a secret key. `stile secrets status` counts them. */
export const keyedValues: readonly KeyedValues[] = [
  ...sealedColumns.map(
    ({ holds, table, column }): KeyedValues => ({
      ...{ holds, table, column },
      ...{ kind: "sealed", after: "reseal" },
    }),
  ),
  {
    holds: "a recovery code",
    table: "recovery_codes",
    column: "code_hash",
    keyColumn: "key_id",
    kind: "digest",
    after: "replacement",
  },
  {
    holds: "a mailed code",
    table: "passcodes",
    column: "code_hash",
    keyColumn: "key_id",
    kind: "digest",
    after: "expiry",
  },
  { holds: "an answer of a flow", table: "flows", column: "sealed_payload", ...sealedForMinutes },
  { holds: "a request to a provider", table: "third_party_requests", column: "sealed", ...sealedForMinutes },
  { holds: "an answer of a provider", table: "exchange_tokens", column: "sealed", ...sealedForMinutes },
  {
    holds: "an authenticator request",
    table: "authenticator_requests",
    column: "sealed_device_token",
    ...sealedForMinutes,
  },
  {
    holds: "the result of a transaction",
    table: "transaction_confirmations",
    column: "sealed_result",
    ...sealedForMinutes,
  },
];

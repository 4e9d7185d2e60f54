import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { handlesSealContext } from "../authenticator/devices.ts";
import { totpSealContext } from "../credentials/totp.ts";
import { StartError } from "../start/start-error.ts";
import { settingsContext } from "../tenants/sealed-settings.ts";
import { signingKeySealContext } from "./signing-key-store.ts";
import { keyIdOf, type Vault } from "./vault.ts";

/**
 * A column whose values stay sealed for as long as their row lives. What is sealed for minutes alone, such as codes
 * in jobs and material of flows, is not among them: it is gone before its key may go.
 */
export interface SealedColumn {
  /** What lies there, for the operator. */
  holds: string;
  table: string;
  column: string;
  /** The primary key, in order. */
  key: readonly string[];
  /** A column that repeats the name of the key that sealed, in hexadecimal. */
  sealedBy?: string;
  /** Further columns that the context is made of. */
  reads?: readonly string[];
  /** What a value is sealed for. */
  context(row: Record<string, string>): string;
}

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
    holds: "what reaches an authenticator's app",
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

/** Whether a row's value was sealed by another key than these. An erased value was sealed by none. */
export function sealedByOther({ column }: SealedColumn, keyIds: readonly string[]): SQL {
  const value = sql.identifier(column);
  const known = sql.param(keyIds.map((id) => Buffer.from(id, "hex")));
  return sql`length(${value}) > 0 and substring(${value} from ${keyIdOf.start}::int for ${keyIdOf.length}::int) <> all (${known}::bytea[])`;
}

/**
 * Makes sure that everything sealed in the database can be opened here.
 *
 * @throws StartError that names a key which is not configured, and what it sealed
 */
export async function refuseUnknownSealers({ read }: Pick<Database, "read">, vault: Vault): Promise<void> {
  for (const sealed of sealedColumns) {
    const value = sql.identifier(sealed.column);
    const { rows } = await read.execute<{ name: string }>(sql`
      select encode(substring(${value} from ${keyIdOf.start}::int for ${keyIdOf.length}::int), 'hex') as name
      from ${sql.identifier(sealed.table)} where ${sealedByOther(sealed, vault.keyIds)} limit 1`);
    const [found] = rows;
    if (found) {
      throw new StartError(
        `SECRET_KEYS lacks the key that sealed ${sealed.holds} in the database (its name is ${found.name})`,
      );
    }
  }
}

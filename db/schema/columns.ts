import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  customType,
  foreignKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";

/** The tenant of a row. Part of every key, so that queries must name it. */
export const tenantId = () => uuid("tenant_id").notNull();

export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const createdAt = () => moment("created_at").notNull().defaultNow();

export const times = () => ({
  createdAt: createdAt(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
});

export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });

/** Columns of a credential record (WebAuthn Level 3, section 4). */
export const credentialRecord = () => ({
  /** Credential id, base64url. */
  id: text("id").notNull(),
  /** COSE_Key */
  publicKey: bytes("public_key").notNull(),
  signCount: bigint("sign_count", { mode: "number" }).notNull(),
  aaguid: text("aaguid").notNull(),
  /** Format of the attestation statement. */
  attestationType: text("attestation_type").notNull(),
  transports: text("transports").array().notNull(),
  backupEligible: boolean("backup_eligible").notNull(),
  backupState: boolean("backup_state").notNull(),
  userVerified: boolean("user_verified").notNull(),
  name: text("name"),
  lastUsedAt: moment("last_used_at"),
  ...times(),
});

/**
 * Deletes rows with the row of another table that they refer to.
 *
 * @param columns the columns that refer to its tenant and its id
 */
export const deletedWith = (
  { tenantId, id }: { tenantId: AnyPgColumn; id: AnyPgColumn },
  ...columns: [AnyPgColumn, AnyPgColumn]
) => foreignKey({ columns, foreignColumns: [tenantId, id] }).onDelete("cascade");

/** Condition of an index of the rows that have a value in a column. */
export const isSet = (column: AnyPgColumn) => sql`${column} is not null`;

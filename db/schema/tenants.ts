import { bigint, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId, updatedAt } from "./columns.ts";

/** Organisations with their own users. The default tenant is created from the configuration. */
export const tenants = pgTable("tenants", {
  id: uuid("id").primaryKey(),
  name: text("name").notNull(),
  /** Its own host names. A tenant without any is served under `/t/{id}`. */
  hosts: text("hosts").array().notNull().default([]),
  /** Settings that override the server's configuration, in the same structure, without secrets. */
  config: jsonb("config").notNull().default({}).$type<Record<string, unknown>>(),
  /** The secrets among these settings, as sealed JSON. */
  sealedConfig: bytes("sealed_config"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

/** API keys of other servers. A key is shown once and stored as its SHA-256. */
export const apiKeys = pgTable(
  "api_keys",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** The interface that it authorizes: `passkeys`, `authenticator`, `admin`. */
    interface: text("interface").notNull(),
    name: text("name").notNull(),
    keyHash: bytes("key_hash").notNull(),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at"),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("api_keys_hash").on(table.keyHash),
  ],
);

/** Key pairs that sign a tenant's tokens. The private key is sealed with the secret key that `sealedBy` names. */
export const signingKeys = pgTable(
  "signing_keys",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: text("id").notNull(),
    purpose: text("purpose").notNull(),
    algorithm: text("algorithm").notNull(),
    publicJwk: jsonb("public_jwk").notNull().$type<Record<string, string>>(),
    sealedPrivateJwk: bytes("sealed_private_jwk").notNull(),
    sealedBy: text("sealed_by").notNull(),
    createdAt: createdAt(),
    /** Since when it signs no more. It stays published until its last token has expired. */
    retiredAt: moment("retired_at"),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

/** Imports of users that have not ended, so that they can be resumed. Written with each batch. */
export const userImports = pgTable(
  "user_imports",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** Digest of the beginning of the input and of the options that decide what is imported. */
    inputHash: bytes("input_hash").notNull(),
    /** Records that were read, of which some were refused. */
    records: bigint("records", { mode: "number" }).notNull(),
    imported: bigint("imported", { mode: "number" }).notNull(),
    refused: bigint("refused", { mode: "number" }).notNull(),
    /** SHA-256 of these records. */
    recordsHash: bytes("records_hash").notNull(),
    /** Fields that could not be carried over, with the number of users. */
    omitted: jsonb("omitted").notNull().$type<Record<string, number>>(),
    /** Length of the report of refused records. */
    reportBytes: bigint("report_bytes", { mode: "number" }).notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.inputHash] })],
);

import { jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId, updatedAt } from "./columns.ts";

/** An organisation whose visitors are let in. The default one is made from the configuration. */
export const tenants = pgTable("tenants", {
  id: uuid("id").primaryKey(),
  name: text("name").notNull(),
  /** Host names of its own; any other tenant is reached under `/t/{id}`. */
  hosts: text("hosts").array().notNull().default([]),
  /** What it wants otherwise than the server's configuration; a tree of the same names, without its secrets. */
  config: jsonb("config").notNull().default({}).$type<Record<string, unknown>>(),
  /** The secrets of that tree, sealed JSON. */
  sealedConfig: bytes("sealed_config"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

/** Keys of other servers. The key is shown once and kept as its SHA-256. */
export const apiKeys = pgTable(
  "api_keys",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** Which interface it opens: `passkeys`, `authenticator`, `admin`. */
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

/** Key pairs that sign a tenant's tokens; the private half is sealed by the configured key `sealedBy` names. */
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
    /** From here on it signs nothing more; it stays published until its last token has expired. */
    retiredAt: moment("retired_at"),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

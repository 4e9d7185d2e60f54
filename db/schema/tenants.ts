import { jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId } from "./columns.ts";

/** An organisation whose visitors are let in. The default one is made from the configuration. */
export const tenants = pgTable("tenants", {
  id: uuid("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: createdAt(),
});

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

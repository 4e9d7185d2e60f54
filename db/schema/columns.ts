import { customType, timestamp, uuid } from "drizzle-orm/pg-core";

/** The tenant a row belongs to; part of every key, so that no query can forget it. */
export const tenantId = () => uuid("tenant_id").notNull();

export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });

export const createdAt = () => moment("created_at").notNull().defaultNow();

export const updatedAt = () => moment("updated_at").notNull().defaultNow();

export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });

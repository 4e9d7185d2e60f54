import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId } from "./columns.ts";
import { tenants } from "./tenants.ts";

/** Keys of FIDO UAF authenticators; `userId` is whatever the application calls its user. */
export const authenticatorDevices = pgTable(
  "authenticator_devices",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    userId: text("user_id").notNull(),
    aaid: text("aaid").notNull(),
    /** Bytes, since base64url of the longest would not fit into an index. */
    keyId: bytes("key_id").notNull(),
    publicKey: bytes("public_key").notNull(),
    /** ALG_KEY of the FIDO registry. */
    keyFormat: integer("key_format").notNull(),
    /** ALG_SIGN of the FIDO registry. */
    algorithm: integer("algorithm").notNull(),
    signCounter: bigint("sign_counter", { mode: "number" }).notNull(),
    regCounter: bigint("reg_counter", { mode: "number" }).notNull(),
    authenticatorVersion: integer("authenticator_version").notNull(),
    /** `surrogate` or `full`. */
    attestation: text("attestation").notNull(),
    tcDisplayPng: jsonb("tc_display_png").$type<unknown>(),
    /** As its owner, or their application, calls it. */
    keyName: text("key_name").notNull(),
    deviceOs: text("device_os"),
    osVersion: text("os_version"),
    manufacturer: text("manufacturer"),
    model: text("model"),
    /** `pushToken` and `secret` as the app handed them over, sealed JSON. */
    sealedHandles: bytes("sealed_handles"),
    isSecondFactorOnly: boolean("is_second_factor_only").notNull(),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("authenticator_devices_key_unique").on(table.tenantId, table.aaid, table.keyId),
    index("authenticator_devices_user").on(table.tenantId, table.userId),
  ],
);

/** Requests that wait for an authenticator's answer, and what came of them. */
export const authenticatorRequests = pgTable(
  "authenticator_requests",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** 44 letters and digits. */
    id: text("id").notNull(),
    /** `REG`, `AUTH`, `DEREG`. */
    operation: text("operation").notNull(),
    /** `PENDING`, `OK`, `FAILED`, `INVALIDATED`. Whatever left PENDING stays as it is. */
    status: text("status").notNull(),
    userId: text("user_id").notNull(),
    username: text("username").notNull(),
    displayName: text("display_name"),
    /** Text that the user is to agree to. */
    transaction: text("transaction"),
    clientData: jsonb("client_data").$type<{ remoteAddress?: string; userAgent?: string }>(),
    /** Devices that may answer; null for all of the user's. */
    deviceIds: uuid("device_ids").array(),
    isSecondFactorOnly: boolean("is_second_factor_only"),
    /** base64url of 32 bytes; taken by the first answer, whatever it is worth. */
    challenge: text("challenge"),
    /** The UAF message, as clients get it. */
    message: text("message").notNull(),
    /** SHA-256 of the token that the phone shows. */
    deviceTokenHash: bytes("device_token_hash").notNull(),
    /** The same token, sealed, for whoever may see the QR code; gone with the answer. */
    sealedDeviceToken: bytes("sealed_device_token"),
    /** A UAF status code and its sentence. */
    error: jsonb("error").$type<{ code: number; reason: string }>(),
    /** The device that was registered, or that answered. */
    deviceId: uuid("device_id"),
    /** The flow that this is the second factor of. */
    flowId: uuid("flow_id"),
    createdAt: createdAt(),
    validUntil: moment("valid_until").notNull(),
    answeredAt: moment("answered_at"),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("authenticator_requests_user").on(table.tenantId, table.userId, table.operation),
    index("authenticator_requests_flow").on(table.tenantId, table.flowId),
    index("authenticator_requests_valid_until").on(table.validUntil),
  ],
);

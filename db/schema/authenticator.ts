import { bigint, boolean, index, integer, jsonb, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { bytes, createdAt, isSet, moment, tenantId } from "./columns.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/** Keys of FIDO UAF authenticators. `userId` is the application's identifier of its user. */
export const authenticatorDevices = declareTable(
  "authenticator_devices",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    userId: text("user_id").notNull(),
    aaid: text("aaid").notNull(),
    /** Binary, because base64url of the longest key id would exceed the size of an index entry. */
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
    /** Name chosen by the owner or the application. */
    keyName: text("key_name").notNull(),
    deviceOs: text("device_os"),
    osVersion: text("os_version"),
    manufacturer: text("manufacturer"),
    model: text("model"),
    /** `pushToken` and `secret` from the app, as sealed JSON. */
    sealedHandles: bytes("sealed_handles"),
    isSecondFactorOnly: boolean("is_second_factor_only").notNull(),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at").notNull(),
  },
  {
    owner: "account",
    revoked: "credential",
    ends: "when the device is deregistered",
    exported: { because: "The keys are registered for this service's application id." },
    keyed: {
      sealedHandles: sealed("the push handles of an authenticator", "authenticator handles {tenantId} {id}"),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("authenticator_devices_key_unique").on(table.tenantId, table.aaid, table.keyId),
    index("authenticator_devices_user").on(table.tenantId, table.userId),
  ],
);

/** Requests to authenticators, with their outcome. */
export const authenticatorRequests = declareTable(
  "authenticator_requests",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** 44 letters and digits. */
    id: text("id").notNull(),
    /** `REG`, `AUTH`, `DEREG`. */
    operation: text("operation").notNull(),
    /** `PENDING`, `OK`, `FAILED`, `INVALIDATED`. The last three are final. */
    status: text("status").notNull(),
    userId: text("user_id").notNull(),
    username: text("username").notNull(),
    displayName: text("display_name"),
    /** Text of the transaction that the user confirms. */
    transaction: text("transaction"),
    clientData: jsonb("client_data").$type<{ remoteAddress?: string; userAgent?: string }>(),
    /** The place of the browser, as far as it is known. */
    location: jsonb("location").$type<{ country?: string; region?: string; city?: string }>(),
    /** Devices that may respond; null for all devices of the user. */
    deviceIds: uuid("device_ids").array(),
    isSecondFactorOnly: boolean("is_second_factor_only"),
    /** base64url of 32 bytes. The first response consumes it, even an invalid one. */
    challenge: text("challenge"),
    /** The UAF message as sent to clients. */
    message: text("message").notNull(),
    /** SHA-256 of the token that the authenticator sends. */
    deviceTokenHash: bytes("device_token_hash").notNull(),
    /** The same token, sealed, to show in the QR code. Deleted with the response. */
    sealedDeviceToken: bytes("sealed_device_token"),
    /** A UAF status code and its description. */
    error: jsonb("error").$type<{ code: number; reason: string }>(),
    /** The device that was registered or that responded. */
    deviceId: uuid("device_id"),
    /** The flow that uses the request as second factor. */
    flowId: uuid("flow_id"),
    createdAt: createdAt(),
    validUntil: moment("valid_until").notNull(),
    answeredAt: moment("answered_at"),
  },
  {
    owner: "account",
    // Applications read the outcome of a request for some time.
    purge: { by: "validUntil", after: "24 hours" },
    exported: { because: "Rows live for about a day." },
    keyed: {
      sealedDeviceToken: sealed(
        "an authenticator request",
        "authenticator request {tenantId} {id}",
        "expiry",
      ),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("authenticator_requests_user").on(table.tenantId, table.userId, table.operation),
    index("authenticator_requests_flow").on(table.tenantId, table.flowId).where(isSet(table.flowId)),
    index("authenticator_requests_valid_until").on(table.validUntil),
  ],
);

import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytes, createdAt, moment, tenantId, times } from "./columns.ts";
import { declareTable, sealed } from "./table.ts";

/** Organisations with their own users. The default tenant is created from the configuration. */
export const tenants = declareTable(
  "tenants",
  {
    id: uuid("id").primaryKey(),
    name: text("name").notNull(),
    /** Its own host names. A tenant without any is served under `/t/{id}`. */
    hosts: text("hosts").array().notNull().default([]),
    /** Settings that override the server's configuration, in the same structure, without secrets. */
    config: jsonb("config").notNull().default({}).$type<Record<string, unknown>>(),
    /** The secrets among these settings, as sealed JSON. */
    sealedConfig: bytes("sealed_config"),
    ...times(),
  },
  {
    owner: "tenant",
    ends: "when the operator deletes the tenant",
    exported: { because: "It has no users." },
    keyed: {
      sealedConfig: sealed("the settings of a tenant", "tenants/{id}/config"),
    },
    grows: false,
  },
);

/** Who changed the settings of a tenant: a server with an API key, a user of the console, or an operator by the CLI. */
export const settingsAuthorKinds = ["api_key", "user", "cli"] as const;

/** A setting that a change of settings changed. */
export interface SettingChange {
  /** Its path, joined by dots. */
  path: string;
  /** Its values; absent where it was not set. Of a long value only a part is told, of what only a later version knows `***`. */
  before?: unknown;
  after?: unknown;
  /** Its values are stored sealed, and told as `***`. */
  secret?: true;
}

/** Versions of the settings of tenants: the settings after each change, who made it, and what it changed. */
export const settingsHistory = declareTable(
  "settings_history",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** As `updated_at` of the tenant after the change. */
    createdAt: createdAt(),
    /** One of `settingsAuthorKinds`; null if the change is not known, because a former version of the service made it. */
    authorKind: text("author_kind").$type<(typeof settingsAuthorKinds)[number]>(),
    /** Id of the API key or the user. */
    authorId: uuid("author_id"),
    /** The version whose settings the change restored. */
    restoredId: uuid("restored_id"),
    /** What the change changed, the first hundred settings of it. */
    changes: jsonb("changes").notNull().$type<SettingChange[]>(),
    /** Settings as in `tenants`. */
    config: jsonb("config").notNull().$type<Record<string, unknown>>(),
    sealedConfig: bytes("sealed_config"),
    /** Characters of the settings, as JSON. */
    characters: integer("characters").notNull(),
  },
  {
    owner: "tenant",
    ends: "when there are 200 newer versions, or newer ones of four million characters",
    exported: { because: "It has no users." },
    keyed: {
      sealedConfig: sealed("former settings of a tenant", "settings_history/{tenantId}/{id}"),
    },
    grows: false,
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("settings_history_created_at").on(table.tenantId, table.createdAt),
  ],
);

/** API keys of other servers. A key is shown once and stored as its SHA-256. */
export const apiKeys = declareTable(
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
  {
    owner: "tenant",
    atCoordinator: true,
    ends: "when the key is revoked",
    exported: { because: "Keys authorize servers, not users." },
    grows: false,
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex("api_keys_hash").on(table.keyHash),
  ],
);

/** Purposes of tokens. Each has its own keys, so a token of one purpose never verifies for another. */
export const tokenKeyPurposes = ["session", "passkeys"] as const;

/**
 * A key that replaces another is published for this time before it signs: caches may answer with the former key set for ten minutes
 * (`max-age` of the key sets), and processes read the keys once a minute.
 */
export const PUBLISHED_BEFORE_SIGNING_MS = 11 * 60_000;

/** Key pairs that sign a tenant's tokens. The private key is sealed with the secret key that `sealedBy` names. */
export const signingKeys = declareTable(
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
  {
    owner: "tenant",
    atCoordinator: true,
    ends: "when a further key is made after the last token has expired; those that sign receipts or SAML never",
    // A retired key stays published until its last token has expired, and then in the archive of its purpose, if it has
    // one. It retires when the newer one has been published for twice the time for which it does not sign yet, because
    // processes read the keys once in that time.
    erase: {
      columns: { retiredAt: sql`now()`, sealedPrivateJwk: sql`''` },
      by: "createdAt",
      before: sql`now()`,
      and: sql`retired_at is null and purpose in (${sql.join(
        tokenKeyPurposes.map((purpose) => sql`${purpose}`),
        sql`, `,
      )}) and exists (select from signing_keys newer
        where newer.tenant_id = signing_keys.tenant_id and newer.purpose = signing_keys.purpose
          and newer.retired_at is null and (newer.created_at, newer.id) > (signing_keys.created_at, signing_keys.id)
          and newer.created_at < now() - ${PUBLISHED_BEFORE_SIGNING_MS * 2}::int * interval '1 millisecond')`,
      when: "`sealed_private_jwk` erased 22 minutes after a newer key of the same tokens was made",
    },
    exported: { because: "Tokens of another service need other keys." },
    keyed: {
      sealedPrivateJwk: {
        ...sealed("a signing key", "signing_keys/{tenantId}/{purpose}/{id}"),
        sealedBy: "sealedBy",
      },
    },
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

/** Files of users that operators upload, to be checked and imported by a job. */
export const uploadedImports = declareTable(
  "uploaded_imports",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    state: text("state")
      .notNull()
      .$type<"uploading" | "waiting" | "running" | "checked" | "imported" | "failed" | "cancelled">(),
    /** Whether the job checks the file, and writes no user. */
    checks: boolean("checks").notNull().default(true),
    /** The form of the records; null to recognize it by the first one. */
    form: text("form"),
    /** Names of identity providers here, by their names at the source. */
    providers: jsonb("providers").notNull().default({}).$type<Record<string, string>>(),
    emitsEvents: boolean("emits_events").notNull().default(false),
    /** Pieces that were received, and their length. */
    pieces: integer("pieces").notNull().default(0),
    bytes: integer("bytes").notNull().default(0),
    imported: integer("imported"),
    refused: integer("refused"),
    omitted: jsonb("omitted").$type<Record<string, number>>(),
    /** Why the file cannot be imported. */
    failure: text("failure"),
    /** Until when a process has it in hand. */
    claimedUntil: moment("claimed_until"),
    ...times(),
  },
  {
    owner: "tenant",
    ends: "30 days after its last change",
    purge: { by: "updatedAt", after: "30 days" },
    exported: { because: "It is about an import here." },
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);

/** The pieces of an uploaded file. They contain hashes and secrets of users. */
export const uploadedPieces = declareTable(
  "uploaded_pieces",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    importId: uuid("import_id").notNull(),
    /** Counted from 1. */
    number: integer("number").notNull(),
    sealedData: bytes("sealed_data").notNull(),
    /** SHA-256 of the data, so that a piece that is sent again is recognized. */
    hash: bytes("hash").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "tenant",
    ends: "when the import has ended",
    purge: { by: "createdAt", after: "24 hours" },
    exported: { because: "It is about an import here." },
    grows: false,
    keyed: {
      sealedData: sealed(
        "a piece of an uploaded file of users",
        "uploaded pieces/{tenantId}/{importId}/{number}",
        "expiry",
      ),
    },
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.importId, table.number] })],
);

/** Records of an uploaded file that were refused. They contain no data of users but the id at the source. */
export const uploadedRefusals = declareTable(
  "uploaded_refusals",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    importId: uuid("import_id").notNull(),
    record: integer("record").notNull(),
    line: integer("line").notNull(),
    sourceId: text("source_id"),
    reason: text("reason").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "tenant",
    purge: { by: "createdAt", after: "30 days" },
    exported: { because: "It is about an import here." },
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.importId, table.record] })],
);

/** How far the values of one column are moved under the first secret key. */
export interface ResealedColumn {
  table: string;
  column: string;
  /** Values under other keys when the column was begun; null before. */
  total: number | null;
  moved: number;
  /** Ids of keys that sealed other values and are not configured. */
  unknown: string[];
  /** Values that stay because they were changed in the database. Moves of former versions have none. */
  broken?: number;
  /** Primary key of the last row that was read. */
  after: string[];
  done: boolean;
}

/** Moves of all sealed values under the first secret key, by a job. */
export const reseals = declareTable(
  "reseals",
  {
    id: uuid("id").primaryKey(),
    state: text("state").notNull().$type<"waiting" | "running" | "finished" | "failed" | "cancelled">(),
    /** Id of the key that the values are moved under. */
    keyId: text("key_id").notNull(),
    columns: jsonb("columns").notNull().$type<ResealedColumn[]>(),
    /** Why it was given up. */
    failure: text("failure"),
    /** Until when a process has it in hand. */
    claimedUntil: moment("claimed_until"),
    ...times(),
  },
  {
    owner: "deployment",
    ends: "30 days after its last change",
    purge: { by: "updatedAt", after: "30 days" },
    grows: false,
  },
  (table) => [
    // One at a time.
    uniqueIndex("reseals_open").on(sql`(true)`).where(sql`${table.state} in ('waiting', 'running')`),
  ],
);

/** Imports of users that have not ended, so that they can be resumed. Written with each batch. */
export const userImports = declareTable(
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
    ...times(),
  },
  {
    owner: "tenant",
    ends: "when the import has ended",
    // An interrupted import can be resumed for a month.
    purge: { by: "updatedAt", after: "30 days" },
    exported: { because: "It is about an import here." },
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.inputHash] })],
);

import { sql } from "drizzle-orm";
import { boolean, index, primaryKey, text, unique, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, credentialRecord, deletedWith, isSet, moment, tenantId, times } from "./columns.ts";
import { declareTable, sealed } from "./table.ts";
import { tenants } from "./tenants.ts";

/** Users of the applications that use the passkey server. They have no account at Stile. */
export const passkeyUsers = declareTable(
  "passkey_users",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** The application's identifier of the user. */
    userId: text("user_id").notNull(),
    name: text("name").notNull(),
    displayName: text("display_name").notNull(),
    icon: text("icon"),
    /**
     * `user.id` of WebAuthn: random bytes. Null while all credentials bear a handle that is made of the application's
     * identifier, as former versions did.
     */
    userHandle: bytes("user_handle"),
    ...times(),
  },
  {
    owner: "tenant",
    ends: "when the application deletes the user",
    exported: { because: "Its users are those of applications, without an account." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("passkey_users_user_id_unique").on(table.tenantId, table.userId),
    uniqueIndex("passkey_users_user_handle").on(table.userHandle),
  ],
);

/** Credentials of these users. `userId` is the internal id of the user. */
export const passkeyCredentials = declareTable(
  "passkey_credentials",
  {
    ...credentialRecord(),
    tenantId: tenantId(),
    userId: uuid("user_id").notNull(),
    isMfa: boolean("is_mfa").notNull(),
    /** `verified`, `unverified` or `none`: how far the make of the authenticator was proved at registration. */
    attestationTrust: text("attestation_trust").notNull().default("unverified"),
  },
  {
    owner: "tenant",
    ends: "when the application deletes the credential or its user",
    exported: { because: "Its users are those of applications, without an account." },
  },
  (table) => [
    primaryKey({ name: "passkey_credentials_pkey", columns: [table.tenantId, table.id] }),
    index("passkey_credentials_user").on(table.tenantId, table.userId),
    index("passkey_credentials_created_at").on(table.tenantId, table.createdAt, table.id),
    deletedWith(passkeyUsers, table.tenantId, table.userId),
  ],
);

/** Transactions to confirm: their data in canonical form, and the challenge that commits to it. */
export const passkeyTransactions = declareTable(
  "passkey_transactions",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    userId: uuid("user_id").notNull(),
    /** The application's identifier of the transaction. The first request that names it consumes it. */
    identifier: text("identifier").notNull(),
    /** JSON in the canonical form of RFC 8785. */
    data: text("data").notNull(),
    challenge: text("challenge").notNull(),
    ...times(),
    /** Time of the confirmation. */
    confirmedAt: moment("confirmed_at"),
  },
  {
    owner: "tenant",
    ends: "when the application deletes the user",
    exported: { because: "Its users are those of applications, without an account." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    unique("passkey_transactions_identifier_unique").on(table.tenantId, table.identifier),
    index("passkey_transactions_user").on(table.tenantId, table.userId),
    deletedWith(passkeyUsers, table.tenantId, table.userId),
  ],
);

/** WebAuthn challenges of the passkey server, each for one operation. Consumed before verification. */
export const passkeyChallenges = declareTable(
  "passkey_challenges",
  {
    tenantId: tenantId(),
    challenge: text("challenge").notNull(),
    /** `registration`, `mfa_registration`, `login`, `mfa_login`, `transaction`. */
    operation: text("operation").notNull(),
    /** Internal id of the user; null if the credential identifies the user. */
    userId: uuid("user_id"),
    /** The requested `userVerification`. */
    userVerification: text("user_verification").notNull(),
    /** Credential ids that may respond; null for any. */
    allowed: text("allowed").array(),
    transactionId: uuid("transaction_id"),
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    ends: "with the response of the authenticator",
    purge: { by: "expiresAt" },
    exported: { because: "Its users are those of applications, without an account." },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.challenge] }),
    index("passkey_challenges_expires_at").on(table.expiresAt),
    // For the deletion of users and of transactions.
    index("passkey_challenges_user").on(table.tenantId, table.userId).where(isSet(table.userId)),
    index("passkey_challenges_transaction")
      .on(table.tenantId, table.transactionId)
      .where(isSet(table.transactionId)),
    deletedWith(passkeyUsers, table.tenantId, table.userId),
    deletedWith(passkeyTransactions, table.tenantId, table.transactionId),
  ],
);

/** Transactions that the hosted page asks the user to confirm, with the result for the application. */
export const transactionConfirmations = declareTable(
  "transaction_confirmations",
  {
    tenantId: tenantId(),
    transactionId: uuid("transaction_id").notNull(),
    /** SHA-256 of the token in the page's URL. */
    pageTokenHash: bytes("page_token_hash").notNull(),
    redirectTo: text("redirect_to").notNull(),
    /** SHA-256 of the code that the page passes to the application after the confirmation. */
    codeHash: bytes("code_hash"),
    /** The result that the code is redeemed for: token and receipt, as sealed JSON. */
    sealedResult: bytes("sealed_result"),
    /** When the user confirmed or declined. */
    answeredAt: moment("answered_at"),
    /** Until when the user can answer; after a confirmation, until when the code can be redeemed. */
    expiresAt: moment("expires_at").notNull(),
  },
  {
    owner: "tenant",
    purge: { by: "expiresAt", after: "24 hours" },
    // After expiry the result of a transaction can no longer be redeemed.
    erase: {
      columns: { codeHash: null, sealedResult: null },
      by: "expiresAt",
      and: sql`sealed_result is not null`,
    },
    exported: { because: "Its users are those of applications, without an account." },
    keyed: {
      sealedResult: sealed(
        "the result of a transaction",
        "transaction_confirmations/{tenantId}/{transactionId}",
        "expiry",
      ),
    },
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.transactionId] }),
    unique("transaction_confirmations_page_token_unique").on(table.tenantId, table.pageTokenHash),
    unique("transaction_confirmations_code_unique").on(table.tenantId, table.codeHash),
    index("transaction_confirmations_expires_at").on(table.expiresAt),
    index("transaction_confirmations_sealed").on(table.expiresAt).where(isSet(table.sealedResult)),
    deletedWith(passkeyTransactions, table.tenantId, table.transactionId),
  ],
);

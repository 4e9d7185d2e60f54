/**
 * Errors of the database: classification by SQLSTATE (PostgreSQL manual, appendix A), and conflicts that a write
 * detects itself.
 */

/** The row that was changed or deleted concurrently, between the read and the write of a step. */
export type ConflictReason =
  | "account"
  | "account_blocked"
  | "address"
  /** An authorization request was answered, has expired, or was ended with the access of its application. */
  | "authorization"
  | "authenticator_key"
  | "authenticator_request"
  /** The claim of a flow was lost: another request has performed a step. */
  | "claim"
  | "device"
  | "email"
  | "exchange_token"
  | "identity"
  | "metadata"
  | "otp"
  | "passcode"
  | "passkey"
  | "password"
  | "phone"
  /** The provider that a user signs in at has ended its session meanwhile. */
  | "provider_session"
  | "recovery_code"
  | "second_factor"
  | "session"
  | "third_party_identity"
  | "transaction"
  | "user"
  | "username"
  /** A webhook was added, so that events must be written. */
  | "webhook";

/**
 * Thrown by a write whose row was changed or deleted concurrently. The transaction is rolled back, and a flow answers
 * with the error that `server/flow/conflicts.ts` maps the reason to.
 */
export class ConflictError extends Error {
  readonly reason: ConflictReason;
  constructor(reason: ConflictReason) {
    super(`conflict: ${reason}`);
    this.reason = reason;
  }
}

/** SQLSTATE of `refuse`, with the reason as its message. */
const REFUSED = "SR001";

/** Returns the conflict for which a statement has refused to write; any other error as it is. */
export function asConflict(error: unknown): unknown {
  const refusal = [...causes(error)].find(({ code }) => code === REFUSED);
  return refusal ? new ConflictError(refusal.message as ConflictReason) : error;
}

/**
 * Unique constraints that concurrent requests may violate, beside those of methods (`server/methods/single-rows.ts`). `db/errors.test.ts` checks that
 * they exist.
 */
export const uniqueConstraints = [
  "emails_address_unique",
  "emails_primary_unique",
  "identities_subject_unique",
  "phone_numbers_number_unique",
  "phone_numbers_user_unique",
  "users_tenant_id_id_pk",
  "usernames_user_unique",
  "usernames_username_unique",
  "webauthn_credentials_pkey",
] as const;

export type UniqueConstraint = (typeof uniqueConstraints)[number];

/** Returns the unique constraint that a statement violated, or null for any other error. */
export const violatedUnique = violated("23505", "unique");

/** Returns the foreign key that a statement violated, or null for any other error. */
export const violatedForeignKey = violated("23503", "foreign key");

/** Whether a value is invalid for its type (SQLSTATE class 22), such as NUL in a text. */
export const isInvalidValue = whether({ code: /^22/ });

/** Whether the transaction can be retried: serialization_failure or deadlock_detected. */
export const isRetryable = whether({ code: /^(40001|40P01)$/ });

/**
 * Whether the connection was lost, so that the outcome of a COMMIT is unknown: connection exceptions of PostgreSQL (class
 * 08, and 57P01 to 57P03 during its shutdown) and errors of the socket.
 */
export const isConnectionLost = whether({
  code: /^(08|57P0[123]|ECONNRESET$|EPIPE$|ETIMEDOUT$)/,
  message: /connection terminated|^Client has encountered a connection error/i,
});

/** Whether a statement has waited for a lock for longer than it may: lock_not_available. */
export const isLockTimeout = whether({ code: /^55P03$/ });

/** Whether transactions waited for each other, or changed the same, so that this one has to be tried again. */
export const isSerializationFailure = whether({ code: /^(40P01|40001)$/ });

/** Whether the database takes no writes, as a standby or before a failover: read_only_sql_transaction. */
export const isReadOnly = whether({ code: /^25006$/ });

/**
 * Whether a read fails at a standby for what a standby is, and would not at the primary: it cannot be reached, or the read
 * is in the way of what is replayed (PostgreSQL manual, 27.4.2), or the standby was refused as one that is behind.
 */
export const isOfStandby = (error: unknown) =>
  isDatabaseUnreachable(error) || isRetryable(error) || isBehind(error);

/** Message of a connection that is refused because its server has less of the log than it had. */
export const BEHIND = "the replica is behind where it was";

const isBehind = whether({ message: new RegExp(`^${BEHIND}$`) });

/** Whether PostgreSQL found no room for what it had to write: disk_full. */
export const isDiskFull = whether({ code: /^53100$/ });

/** Whether the database could not be reached, which is a temporary failure. */
export const isDatabaseUnreachable = whether({
  // Classes 08 (connection), 53 (resources) and 57P (operator intervention), and errors of the network.
  code: /^(08|53|57P|ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/,
  // Errors of the driver, which carry no code, and of Citus, whose code is that of a fault of its own. The third one is that of
  // the rollback after a lost connection.
  message:
    /^(failure on connection marked as essential|Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/,
});

/**
 * Whether a node of a distributed database could not be reached, so that statements about its rows fail; the server that said
 * so goes on with those about others. An error of severity ERROR ends a statement and no connection, as FATAL and PANIC
 * do (PostgreSQL manual, 54.8).
 */
export const isNodeUnreachable = (error: unknown): boolean =>
  [...causes(error)].some(({ severity }) => severity === "ERROR") && nodeFailure(error);

/** Errors of connections, and what Citus says with the code of a fault of its own. */
const nodeFailure = whether({ code: /^08/, message: /^failure on connection marked as essential/ });

/** Whether a pooler between here and the database accepts no parameters of a session. */
export const rejectsSessionParameters = whether({ message: /^unsupported startup parameter/ });

interface DatabaseError extends Error {
  code?: unknown;
  severity?: unknown;
  constraint?: unknown;
}

/** Yields the error and its causes, outermost first. The query builder wraps errors of the driver. */
function* causes(error: unknown): Generator<DatabaseError> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

/** Returns a function that tells whether an error, or a cause of it, has such a code or such a message. */
function whether({ code, message }: { code?: RegExp; message?: RegExp }): (error: unknown) => boolean {
  return (error) =>
    [...causes(error)].some(
      (cause) =>
        (typeof cause.code === "string" && code?.test(cause.code)) || message?.test(cause.message) === true,
    );
}

/** The number of the part of a table that a node of Citus has, after the names of its constraints. */
const SHARD = /_\d{5,}$/;

/**
 * Returns a function that returns the constraint that an error names, as the schema does.
 *
 * @param kind as in PostgreSQL's message
 */
function violated(sqlState: string, kind: "unique" | "foreign key"): (error: unknown) => string | null {
  const told = new RegExp(`violates ${kind} constraint "([^"]+)"`);
  return (error) => {
    for (const { code, constraint, message } of causes(error)) {
      // Citus passes some errors of its nodes on as its own, with their text, and others without the constraint.
      if (code !== sqlState && code !== "XX000") continue;
      const name = typeof constraint === "string" ? constraint : told.exec(String(message))?.[1];
      if (name !== undefined) return name.replace(SHARD, "");
    }
    return null;
  };
}

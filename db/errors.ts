/**
 * Errors of the database: classification by SQLSTATE (PostgreSQL manual, appendix A), and conflicts that a write
 * detects itself.
 */

/** The row that was changed or deleted concurrently, between the read and the write of a step. */
export type ConflictReason =
  | "account"
  | "account_blocked"
  | "address"
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

/** Returns the unique constraint that a statement violated (23505), or null for any other error. */
export function violatedUnique(error: unknown): string | null {
  return violated(error, "23505");
}

/** Returns the foreign key that a statement violated (23503), or null for any other error. */
export function violatedForeignKey(error: unknown): string | null {
  return violated(error, "23503");
}

/** Returns true if a value is invalid for its type (SQLSTATE class 22), such as NUL in a text. */
export function isInvalidValue(error: unknown): boolean {
  return hasCode(error, (code) => code.startsWith("22"));
}

/** Returns true if the transaction can be retried: serialization_failure or deadlock_detected. */
export function isRetryable(error: unknown): boolean {
  return hasCode(error, (code) => code === "40001" || code === "40P01");
}

/**
 * Returns true if the connection was lost, so that the outcome of a COMMIT is unknown: connection exceptions of
 * PostgreSQL (class 08, and 57P01 to 57P03 during its shutdown) and errors of the socket.
 */
export function isConnectionLost(error: unknown): boolean {
  return (
    hasCode(error, (code) => /^(08|57P0[123]|ECONNRESET$|EPIPE$|ETIMEDOUT$)/.test(code)) ||
    messages(error).some((message) =>
      /connection terminated|^Client has encountered a connection error/i.test(message),
    )
  );
}

/** Returns true if a statement has waited for a lock for longer than it may: lock_not_available. */
export function isLockTimeout(error: unknown): boolean {
  return hasCode(error, (code) => code === "55P03");
}

/** Returns true if the database takes no writes, as a standby or before a failover: read_only_sql_transaction. */
export function isReadOnly(error: unknown): boolean {
  return hasCode(error, (code) => code === "25006");
}

/** Returns true if PostgreSQL found no room for what it had to write: disk_full. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, (code) => code === "53100");
}

/** SQLSTATE classes 08 (connection), 53 (resources) and 57P (operator intervention), and errors of the network. */
const unreachableCode = /^(08|53|57P|ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/;

/** Errors of the driver, which carry no code. The last one is that of the rollback after a lost connection. */
const unreachableMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Returns true if the database could not be reached, which is a temporary failure. */
export function isDatabaseUnreachable(error: unknown): boolean {
  return (
    hasCode(error, (code) => unreachableCode.test(code)) ||
    messages(error).some((message) => unreachableMessage.test(message))
  );
}

/** Returns true if a pooler between here and the database accepts no parameters of a session. */
export function rejectsSessionParameters(error: unknown): boolean {
  return messages(error).some((message) => /^unsupported startup parameter/.test(message));
}

interface DatabaseError extends Error {
  code?: unknown;
  constraint?: unknown;
}

/** Yields the error and its causes, outermost first. The query builder wraps errors of the driver. */
function* causes(error: unknown): Generator<DatabaseError> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}

function hasCode(error: unknown, matches: (code: string) => boolean): boolean {
  return [...causes(error)].some(({ code }) => typeof code === "string" && matches(code));
}

function messages(error: unknown): string[] {
  return [...causes(error)].map(({ message }) => message);
}

function violated(error: unknown, sqlState: string): string | null {
  const found = [...causes(error)].find(
    ({ code, constraint }) => code === sqlState && typeof constraint === "string",
  );
  return found ? String(found.constraint) : null;
}

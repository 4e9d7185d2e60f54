import { ConflictError } from "../runtime.ts";
import type { FlowData } from "./data.ts";
import { type Problem, problemOf } from "./errors.ts";
import type { FlowType, StateName } from "./names.ts";

/** Where a flow stands after its writes met what somebody else wrote meanwhile. */
export interface Conflict {
  /** Absent: where it stood. */
  state?: StateName;
  problem: Problem;
  /** What cannot be written is not tried again. */
  forgets?: (data: FlowData) => FlowData;
}

const conflicts: Record<string, Partial<Record<FlowType, StateName>> & Omit<Conflict, "state">> = {
  emails_address_unique: {
    login: "onboarding_email",
    registration: "registration_init",
    profile: "profile_init",
    problem: problemOf("email_already_exists", { input: "email" }),
    // The code is right and is of no use: it is no longer waited for.
    forgets: ({ passcode, ...data }) => data,
  },
  usernames_username_unique: {
    login: "onboarding_username",
    registration: "registration_init",
    profile: "profile_init",
    problem: problemOf("username_already_exists", { input: "username" }),
  },
  webauthn_credentials_pkey: {
    registration: "onboarding_create_passkey",
    problem: problemOf("passkey_invalid"),
    forgets: ({ pending: { credential, securityKey, ...pending }, ...data }) => ({ ...data, pending }),
  },
  // What was to be changed of an account is not as it was any more: another tab, or another session, was faster.
  ...Object.fromEntries(
    ["account", "email", "username", "identity", "metadata", "second_factor"].map((what) => [
      what,
      { profile: "profile_init" as const, problem: problemOf("form_data_invalid_error") },
    ]),
  ),
  // Another flow of the same person was faster: what was missing is there, and going on asks for it no more.
  emails_primary_unique: { problem: problemOf("form_data_invalid_error") },
  usernames_user_unique: { problem: problemOf("form_data_invalid_error") },
  passwords_tenant_id_user_id_pk: { problem: problemOf("form_data_invalid_error") },
  totp_secrets_tenant_id_user_id_pk: { problem: problemOf("form_data_invalid_error") },
  password: { problem: problemOf("value_invalid_error", { input: "password" }) },
  passcode: { problem: problemOf("passcode_invalid", { input: "code" }) },
  passkey: { problem: problemOf("passkey_invalid") },
  otp: { problem: problemOf("otp_code_already_used", { input: "otp_code" }) },
  recovery_code: { problem: problemOf("recovery_code_invalid", { input: "recovery_code" }) },
  authenticator_request: { problem: problemOf("authenticator_request_expired") },
  exchange_token: { problem: problemOf("value_invalid_error", { input: "token" }) },
  // Its owner gave the identity up, or got the address, in the same moment: the token is good for another try.
  third_party_identity: { problem: problemOf("value_invalid_error", { input: "token" }) },
  address: { problem: problemOf("user_conflict") },
  identities_subject_unique: {
    problem: problemOf("identity_already_linked"),
    forgets: ({ pending: { identity, ...pending }, ...data }) => ({ ...data, pending }),
  },
  // The browser showed its token twice at once; asked again, it shows the new one.
  device: { problem: problemOf("form_data_invalid_error") },
};

/** What a failed write means for the flow; null when it means nothing we know. */
export function conflictOf(error: unknown, type: FlowType): Conflict | null {
  const name = error instanceof ConflictError ? error.reason : violated(error, uniqueViolation);
  const conflict = name === null || !Object.hasOwn(conflicts, name) ? undefined : conflicts[name];
  if (!conflict) return null;
  const { [type]: state, problem, forgets } = conflict;
  return { problem, ...(state ? { state } : {}), ...(forgets ? { forgets } : {}) };
}

/** Whether a write failed because what it is about is gone: the account, or what was to be taken. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof ConflictError || violated(error, foreignKeyViolation)?.includes("_user_id_") === true
  );
}

/** SQLSTATE, appendix A of PostgreSQL's manual. */
const uniqueViolation = "23505";
const foreignKeyViolation = "23503";

/** The constraint that PostgreSQL names as violated, however deep the driver wraps it. */
function violated(error: unknown, sqlState: string): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, constraint } = cause as Error & { code?: unknown; constraint?: unknown };
    if (code === sqlState && typeof constraint === "string") return constraint;
  }
  return null;
}

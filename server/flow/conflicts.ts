import {
  ConflictError,
  type ConflictReason,
  type UniqueConstraint,
  violatedForeignKey,
  violatedUnique,
} from "#db/errors";
import type { FlowData } from "./data.ts";
import { type Problem, problemOf } from "./errors.ts";
import type { FlowType, StateName } from "./names.ts";

/** How a flow goes on after its write met a concurrent change. */
export interface Conflict {
  /** The state to show; absent: the current one. */
  state?: StateName;
  problem: Problem;
  /** Drops the data that can no longer be written. */
  forgets?: (data: FlowData) => FlowData;
}

type Entry = Partial<Record<FlowType, StateName>> & Omit<Conflict, "state">;

/** The account was changed concurrently, by another tab or session. */
const accountChanged: Entry = { profile: "profile_init", problem: problemOf("form_data_invalid_error") };

/** A parallel flow of the same user wrote the row first; the next step no longer asks for it. */
const alreadyWritten: Entry = { problem: problemOf("form_data_invalid_error") };

const conflicts = {
  emails_address_unique: {
    login: "onboarding_email",
    registration: "registration_init",
    profile: "profile_init",
    problem: problemOf("email_already_exists", { input: "email" }),
    // The code was correct and has no use any more.
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
  account: accountChanged,
  email: accountChanged,
  username: accountChanged,
  identity: accountChanged,
  metadata: accountChanged,
  second_factor: accountChanged,
  emails_primary_unique: alreadyWritten,
  usernames_user_unique: alreadyWritten,
  passwords_tenant_id_user_id_pk: alreadyWritten,
  totp_secrets_tenant_id_user_id_pk: alreadyWritten,
  password: { problem: problemOf("value_invalid_error", { input: "password" }) },
  passcode: { problem: problemOf("passcode_invalid", { input: "code" }) },
  passkey: { problem: problemOf("passkey_invalid") },
  otp: { problem: problemOf("otp_code_already_used", { input: "otp_code" }) },
  recovery_code: { problem: problemOf("recovery_code_invalid", { input: "recovery_code" }) },
  authenticator_request: { problem: problemOf("authenticator_request_expired") },
  exchange_token: { problem: problemOf("value_invalid_error", { input: "token" }) },
  // The identity was removed, or its address taken, concurrently: the token may be tried once more.
  third_party_identity: { problem: problemOf("value_invalid_error", { input: "token" }) },
  address: { problem: problemOf("user_conflict") },
  identities_subject_unique: {
    problem: problemOf("identity_already_linked"),
    forgets: ({ pending: { identity, ...pending }, ...data }) => ({ ...data, pending }),
  },
  // The browser presented its token twice at once; the retry presents the new one.
  device: { problem: problemOf("form_data_invalid_error") },
  // The account, session or transaction is gone: the flow cannot go on.
  user: null,
  session: null,
  transaction: null,
} satisfies Record<ConflictReason | UniqueConstraint, Entry | null>;

/** What a failed write means for the flow; null for an error that is no conflict of a flow. */
export function conflictOf(error: unknown, type: FlowType): Conflict | null {
  const name = error instanceof ConflictError ? error.reason : violatedUnique(error);
  if (name === null || !isListed(name)) return null;
  const conflict: Entry | null = conflicts[name];
  if (!conflict) return null;
  const { [type]: state, problem, forgets } = conflict;
  return { problem, ...(state ? { state } : {}), ...(forgets ? { forgets } : {}) };
}

/** Whether a write failed because its subject is gone: the account, or the row that the step read. */
export function isGone(error: unknown): boolean {
  return error instanceof ConflictError || violatedForeignKey(error)?.includes("_user_id_") === true;
}

function isListed(name: string): name is keyof typeof conflicts {
  return Object.hasOwn(conflicts, name);
}

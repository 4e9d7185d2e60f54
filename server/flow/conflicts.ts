import {
  ConflictError,
  type ConflictReason,
  type UniqueConstraint,
  violatedForeignKey,
  violatedUnique,
} from "#db/errors";
import type { Identifier } from "../identity/identifier.ts";
import { identifiers } from "../identity/identifiers.ts";
import { singleRowConstraints } from "../methods/single-rows.ts";
import type { FlowData, FlowRecord } from "./data.ts";
import { type StepError, stepError } from "./errors.ts";
import { withoutIdentifier } from "./expected-codes.ts";
import type { FlowType, StateName } from "./names.ts";

/** The state and the error that a flow shows after a write that conflicted with a concurrent change. */
export interface Conflict {
  /** The state to show; absent: the current one. */
  state?: StateName;
  error: StepError;
  /** Removes the data that can no longer be written. */
  discard?: (data: FlowData) => FlowData;
}

type ConflictEntry = Partial<Record<FlowType, StateName>> & Omit<Conflict, "state">;

/** The account was changed concurrently, by another tab or session. */
const accountChanged: ConflictEntry = {
  profile: "profile_init",
  error: stepError("form_data_invalid_error"),
};

/** A parallel flow of the same user wrote the row first; the next step no longer asks for it. */
const alreadyWritten: ConflictEntry = { error: stepError("form_data_invalid_error") };

type IdentifierConstraint = (typeof identifiers)[number]["constraints"][keyof Identifier["constraints"]];

const identifierConflicts = Object.fromEntries(
  identifiers.flatMap(({ kind, askedIn, constraints, errors }): [string, ConflictEntry][] => [
    [
      constraints.taken,
      {
        login: askedIn,
        registration: "registration_init",
        profile: "profile_init",
        error: stepError(errors.taken, { input: kind }),
        discard: (data) => withoutIdentifier(kind, data),
      },
    ],
    [constraints.second, alreadyWritten],
    [constraints.changed, accountChanged],
  ]),
) as Record<IdentifierConstraint, ConflictEntry>;

const conflicts = {
  ...identifierConflicts,
  webauthn_credentials_pkey: {
    registration: "onboarding_create_passkey",
    error: stepError("passkey_invalid"),
    discard: ({ pending: { credential, securityKey, ...pending }, ...data }) => ({ ...data, pending }),
  },
  account: accountChanged,
  account_blocked: { error: stepError("account_blocked") },
  identity: accountChanged,
  metadata: accountChanged,
  second_factor: accountChanged,
  password: { error: stepError("value_invalid_error", { input: "password" }) },
  passcode: { error: stepError("passcode_invalid", { input: "code" }) },
  passkey: { error: stepError("passkey_invalid") },
  otp: { error: stepError("otp_code_already_used", { input: "otp_code" }) },
  recovery_code: { error: stepError("recovery_code_invalid", { input: "recovery_code" }) },
  authenticator_request: { error: stepError("authenticator_request_expired") },
  exchange_token: { error: stepError("value_invalid_error", { input: "token" }) },
  // The identity was removed, or its address was taken, concurrently. The token is still valid for a retry.
  third_party_identity: { error: stepError("value_invalid_error", { input: "token" }) },
  address: { error: stepError("user_conflict") },
  identities_subject_unique: {
    error: stepError("identity_already_linked"),
    discard: ({ pending: { identity, ...pending }, ...data }) => ({ ...data, pending }),
  },
  // Two concurrent requests presented the same device token. A retry presents the rotated one.
  device: { error: stepError("form_data_invalid_error") },
  // A new account has a random id.
  users_tenant_id_id_pk: null,
  // The claim was lost, or the account, session, request or transaction was ended: the flow cannot continue.
  authorization: null,
  claim: null,
  provider_session: null,
  user: null,
  session: null,
  transaction: null,
  // Answers of authenticators are written outside of flows.
  authenticator_key: null,
  // `write.ts` writes the step again, in a transaction.
  webhook: null,
} satisfies Record<ConflictReason | UniqueConstraint, ConflictEntry | null>;

/** The name of a conflict: what has changed, or the constraint that it violates. */
export type ConflictName = string;

/** Names the conflict that a write failed with; null if it is no conflict. */
export function conflictName(failure: unknown): ConflictName | null {
  return failure instanceof ConflictError ? failure.reason : violatedUnique(failure);
}

/** Maps the name of a conflict to the state and error to show; null if it is not one of a flow. */
export function conflictOf(name: ConflictName | null, type: FlowType): Conflict | null {
  if (name === null) return null;
  const listed: ConflictEntry | null = isListed(name) ? conflicts[name] : null;
  const conflict = singleRowConstraints.has(name) ? alreadyWritten : listed;
  if (!conflict) return null;
  const { [type]: state, error, discard } = conflict;
  return { error, ...(state ? { state } : {}), ...(discard ? { discard } : {}) };
}

/** Returns a flow after a conflict, in the state that shows it. Pure. */
export function afterConflict(record: FlowRecord, conflict: Conflict): FlowRecord {
  const state = conflict.state ?? record.state;
  const data = conflict.discard?.(record.data) ?? record.data;
  return { ...record, data, state, history: state === record.state ? record.history : [] };
}

/** Whether a write failed because the account, or a row that the step read, was deleted or changed concurrently. */
export function isSubjectGone(error: unknown): boolean {
  return error instanceof ConflictError || violatedForeignKey(error)?.includes("_user_id_") === true;
}

/** Whether a write failed because its tenant was deleted concurrently. */
export function isTenantGone(error: unknown): boolean {
  return violatedForeignKey(error)?.endsWith("_tenant_id_tenants_id_fk") === true;
}

function isListed(name: string): name is keyof typeof conflicts {
  return Object.hasOwn(conflicts, name);
}

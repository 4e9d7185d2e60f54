import { TakenError } from "../runtime.ts";
import { type Problem, problemOf } from "./errors.ts";
import type { FlowType, StateName } from "./names.ts";

/** Where a flow stands after its writes met what somebody else wrote meanwhile. */
export interface Conflict {
  /** Absent: where it stood. */
  state?: StateName;
  problem: Problem;
}

const conflicts: Record<string, Partial<Record<FlowType, StateName>> & { problem: Problem }> = {
  emails_address_unique: {
    login: "onboarding_email",
    registration: "registration_init",
    problem: problemOf("email_already_exists", { input: "email" }),
  },
  usernames_username_unique: {
    login: "onboarding_username",
    registration: "registration_init",
    problem: problemOf("username_already_exists", { input: "username" }),
  },
  webauthn_credentials_pkey: {
    login: "onboarding_create_passkey",
    registration: "onboarding_create_passkey",
    problem: problemOf("passkey_invalid"),
  },
  password: { problem: problemOf("value_invalid_error", { input: "password" }) },
  passcode: { problem: problemOf("passcode_invalid", { input: "code" }) },
  passkey: { problem: problemOf("passkey_invalid") },
};

/** What a failed write means for the flow; null when it means nothing we know. */
export function conflictOf(error: unknown, type: FlowType): Conflict | null {
  const name = error instanceof TakenError ? error.what : constraintOf(error);
  const conflict = name === null || !Object.hasOwn(conflicts, name) ? undefined : conflicts[name];
  if (!conflict) return null;
  const { [type]: state, problem } = conflict;
  return state ? { state, problem } : { problem };
}

/** The constraint that PostgreSQL names with SQLSTATE 23505, unique_violation, however deep the driver wraps it. */
function constraintOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, constraint } = cause as Error & { code?: unknown; constraint?: unknown };
    if (code === "23505" && typeof constraint === "string") return constraint;
  }
  return null;
}

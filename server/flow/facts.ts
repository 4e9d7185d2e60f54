import type { UserFacts } from "../identity/users.ts";
import type { FlowData } from "./data.ts";
import type { FlowType } from "./names.ts";

/** What is true of the person right now; asked anew at every step, never remembered. */
export interface Facts {
  hasPassword: boolean;
  hasPasskey: boolean;
  username: string | null;
  email: string | null;
  emailVerified: boolean;
}

const nothing: Facts = {
  hasPassword: false,
  hasPasskey: false,
  username: null,
  email: null,
  emailVerified: false,
};

/** The facts of an account, or, at registration, of the account that is about to be. */
export function factsOf(type: FlowType, data: FlowData, user: UserFacts | null): Facts {
  if (type === "registration") {
    return {
      hasPassword: data.pending.passwordHash !== undefined,
      hasPasskey: data.pending.credential !== undefined,
      username: data.username ?? null,
      email: data.email ?? null,
      emailVerified: data.emailVerified ?? false,
    };
  }
  if (!user) return nothing;
  const { hasPassword, hasPasskey, username, email, emailVerified } = user;
  return { hasPassword, hasPasskey, username, email, emailVerified };
}

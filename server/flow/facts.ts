import type { UserFacts } from "../identity/users.ts";
import type { FlowData } from "./data.ts";
import type { FlowType } from "./names.ts";

/** What is true of the person right now; asked anew at every step, never remembered. */
export interface Facts {
  hasPassword: boolean;
  hasPasskey: boolean;
  hasSecurityKey: boolean;
  hasTotp: boolean;
  /** A phone or the like that answers authenticator requests is registered for them. */
  hasAuthenticator: boolean;
  hasRecoveryCode: boolean;
  hasIdentity: boolean;
  /** This browser was told to skip this person's second factor, and may. */
  deviceTrusted: boolean;
  username: string | null;
  email: string | null;
  emailVerified: boolean;
}

/** Nobody we know. */
export const nobody: Facts = {
  hasPassword: false,
  hasPasskey: false,
  hasSecurityKey: false,
  hasTotp: false,
  hasAuthenticator: false,
  hasRecoveryCode: false,
  hasIdentity: false,
  deviceTrusted: false,
  username: null,
  email: null,
  emailVerified: false,
};

/** Whether the flow gathers an account that is written at its end; until then there is none. */
export function isPendingRegistration({ type, data }: { type: FlowType; data: FlowData }): boolean {
  return type === "registration" && data.signedUp === undefined;
}

/** The facts of an account, or, at registration, of the account that is about to be. */
export function factsOf(type: FlowType, data: FlowData, user: UserFacts | null): Facts {
  if (isPendingRegistration({ type, data })) {
    return {
      ...nobody,
      hasPassword: data.pending.passwordHash !== undefined,
      hasPasskey: data.pending.credential !== undefined,
      hasSecurityKey: data.pending.securityKey !== undefined,
      hasTotp: data.pending.totp !== undefined,
      username: data.username ?? null,
      email: data.email ?? null,
      emailVerified: data.emailVerified ?? false,
    };
  }
  if (!user) return nobody;
  return { ...nobody, ...accountFacts(user) };
}

/** The facts of whom a step has found out a flow to be about. Whether the browser is trusted is not the account's to say. */
export function accountFacts({ userId, credentialCount, ...facts }: UserFacts): Omit<Facts, "deviceTrusted"> {
  return facts;
}

import type { UserFacts } from "../identity/facts.ts";
import { identifierFacts } from "../identity/identifiers.ts";
import { type CreatedMethod, createdInRegistrations, noMethods } from "../methods/index.ts";
import type { FlowData } from "./data.ts";
import type { FlowType } from "./names.ts";

/** Current facts about the account; read again at every step, never stored in the flow. */
export interface Facts extends Omit<UserFacts, "userId" | "credentialCount"> {
  /** Whether this device is trusted to skip the account's second factor. */
  deviceTrusted: boolean;
}

/** Facts of an unknown account. */
export const noFacts: Facts = {
  ...noMethods,
  ...identifierFacts({}),
  deviceTrusted: false,
  language: null,
  blocked: false,
  passkeyDeclinedAt: null,
};

/** Whether the flow is a registration whose account is written at its end; until then it does not exist. */
export function isPendingRegistration({ type, data }: { type: FlowType; data: FlowData }): boolean {
  return type === "registration" && data.signedUp === undefined;
}

/** The methods that a registration has created and will store. */
export function createdMethods({ pending }: Pick<FlowData, "pending">): CreatedMethod[] {
  return createdInRegistrations.filter((method) => pending[method.pending.member] !== undefined);
}

/** Returns the facts of an account or, for a pending registration, of the account to be created. */
export function factsOf(type: FlowType, data: FlowData, user: UserFacts | null): Facts {
  if (isPendingRegistration({ type, data })) {
    return {
      ...noFacts,
      ...Object.fromEntries(createdMethods(data).map(({ fact }) => [fact, true])),
      ...identifierFacts(data),
    };
  }
  if (!user) return noFacts;
  return { ...noFacts, ...accountFacts(user) };
}

/** Returns the facts of an account that a step has identified, without `deviceTrusted`. */
export function accountFacts({ userId, credentialCount, ...facts }: UserFacts): Omit<Facts, "deviceTrusted"> {
  return facts;
}

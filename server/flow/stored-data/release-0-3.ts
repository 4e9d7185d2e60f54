import type { FlowData, FlowRecord } from "../data.ts";
import type { StateName } from "../names.ts";

/** States that release 0.3 does not have. */
const states: ReadonlySet<StateName> = new Set([
  "account_choice",
  "device_code",
  "consent",
  "consent_answered",
]);

/** Members that it drops when it writes a flow, and without which the flow would end in something else. */
const members = [
  "authorization",
  "choice",
  "classes",
  "providerSession",
  "userCode",
] as const satisfies readonly (keyof FlowData)[];

/**
 * Whether release 0.3 would do wrongly what this flow is for: sign in below the class of authentication that an application
 * asks for, give that no answer, or leave a session at an identity provider open that ends with this one.
 */
export function isUnknownTo03({ state, data }: Pick<FlowRecord, "state" | "data">): boolean {
  return states.has(state) || members.some((member) => data[member] !== undefined);
}

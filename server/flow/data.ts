import { z } from "zod";
import { type flowTypes, stateNames } from "./names.ts";

const factor = z.object({
  method: z.enum(["password", "passcode", "passkey", "registration"]),
  at: z.iso.datetime(),
  userVerified: z.boolean().optional(),
});

/** A WebAuthn credential that exists in its authenticator and not yet in the database; buffers as base64url. */
const newCredential = z.looseObject({ id: z.string() });

/** What a flow remembers between steps. `back` restores it, except for `sticky` members. */
export const flowData = z.object({
  capabilities: z
    .object({ webauthn: z.boolean(), conditionalMediation: z.boolean(), platformAuthenticator: z.boolean() })
    .optional(),
  rememberMe: z.boolean().optional(),
  /** How the person named themselves, in canonical form. */
  identifier: z.object({ kind: z.enum(["email", "username"]), value: z.string() }).optional(),
  /** Canonical address this flow is about: given, or the account's own. */
  email: z.string().optional(),
  username: z.string().optional(),
  /** The account this flow is about; at registration the one that will be. */
  userId: z.uuid().optional(),
  /** The mailed code that is awaited. */
  passcode: z
    .object({
      purpose: z.enum(["login", "recovery", "email_verification"]),
      /** Where mail goes; absent when the account has no address, or there is no account. */
      recipient: z.string().optional(),
      /** False: nobody may be let in by this code, and it looks as if somebody could. */
      genuine: z.boolean(),
      notice: z.enum(["email_login_attempted", "email_registration_attempted"]).optional(),
    })
    .optional(),
  factors: z.array(factor).default([]),
  /** A code for a new password was confirmed, and the password is not yet set. */
  recovering: z.boolean().optional(),
  emailVerified: z.boolean().optional(),
  /** States of the plan that were done or skipped. */
  answered: z.array(z.enum(stateNames)).default([]),
  /** What registration will write at its end. */
  pending: z
    .object({ passwordHash: z.string().optional(), credential: newCredential.optional() })
    .default({}),
});

export type FlowData = z.output<typeof flowData>;
export type DataKey = keyof FlowData;
export type DataPatch = { [Key in DataKey]?: FlowData[Key] | undefined };

/** Members that `back` leaves as they are: they hold secrets, which history must not copy, or are told once. */
export const sticky = ["pending", "capabilities", "rememberMe"] as const satisfies readonly DataKey[];

export const historyEntry = z.object({ state: z.enum(stateNames), data: flowData.omit({ pending: true }) });

export type HistoryEntry = z.output<typeof historyEntry>;

/** A flow as the pure functions see it. */
export interface FlowRecord {
  id: string;
  type: (typeof flowTypes)[number];
  state: (typeof stateNames)[number];
  version: number;
  data: FlowData;
  history: HistoryEntry[];
  payload: Record<string, unknown>;
}

import { z } from "zod";
import { type flowTypes, stateNames } from "./names.ts";

const factor = z.object({
  method: z.enum([
    "password",
    "passcode",
    "passkey",
    "third_party",
    "registration",
    "totp",
    "security_key",
    "authenticator",
    "recovery_code",
  ]),
  at: z.iso.datetime(),
  userVerified: z.boolean().optional(),
  /** For third parties: which one. */
  provider: z.string().optional(),
});

/** What an identity provider said of a person; see `server/thirdparty/provider-facts.ts`. */
const providerFacts = z.looseObject({ provider: z.string(), subject: z.string() });

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
  /** An identity provider has said who this is, and their account exists, at registration too. */
  signedUp: z.enum(["created", "known"]).optional(),
  /** Where somebody who was sent to an identity provider comes back to; one of the allowed addresses. */
  returnTo: z.string().optional(),
  /** Which kind of credential is being created. */
  creating: z.enum(["passkey", "security_key"]).optional(),
  /** This flow set up a second factor. */
  enrolled: z.boolean().optional(),
  /** The person lets this browser skip the second factor from now on. */
  trustsDevice: z.boolean().optional(),
  /** A profile flow: the session it belongs to. */
  sessionId: z.uuid().optional(),
  /** A profile flow: the person is proving once more who they are. */
  steppingUp: z.boolean().optional(),
  /** A code for a new password was confirmed, and the password is not yet set. */
  recovering: z.boolean().optional(),
  emailVerified: z.boolean().optional(),
  /** States of the plan that were done or skipped. */
  answered: z.array(z.enum(stateNames)).default([]),
  /** What registration will write at its end. */
  pending: z
    .object({
      passwordHash: z.string().optional(),
      credential: newCredential.optional(),
      securityKey: newCredential.optional(),
      /** Sealed secret of an authenticator app, and the step of the code that confirmed it. */
      totp: z.object({ sealed: z.string(), lastStep: z.int() }).optional(),
      /** Sealed secret that is being set up, and not yet confirmed. */
      unconfirmedTotp: z.string().optional(),
      /** To be linked to the account once the second factor was shown. */
      identity: providerFacts.optional(),
    })
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
  /** Members of the payload that rest sealed. */
  secrets: Record<string, unknown>;
}

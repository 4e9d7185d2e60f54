import { z } from "zod";
import {
  type IdentifierKind,
  identifierKinds,
  identifiers,
  type VerifiedIdentifier,
} from "../identity/identifiers.ts";
import { type CreatedMethod, createdInRegistrations, methodNames } from "../methods/index.ts";
import { contextClasses } from "../openid/authentication-context.ts";
import { MAX_USER_CODE_CHARACTERS } from "../openid/user-code.ts";
import { waitingAuthorization } from "../openid/waiting-authorization.ts";
import { markedMethods } from "../sessions/account-marks.ts";
import { type flowTypes, stateNames } from "./names.ts";

export const factor = z.object({
  method: z.enum([...methodNames, "registration"]),
  at: z.iso.datetime(),
  userVerified: z.boolean().optional(),
  /** For passkeys and security keys: the key is proved to stay in a hardware authenticator. */
  hardwareProtected: z.boolean().optional(),
  /** Key of the identity provider, for `third_party`. */
  provider: z.string().meta({ recordedAs: "provider" }).optional(),
});

/** User facts from an identity provider; see `server/thirdparty/provider-facts.ts`. */
const providerFacts = z.looseObject({ provider: z.string(), subject: z.string() });

/** What a registration has set up of methods and not confirmed yet. */
const drafts = createdInRegistrations.flatMap<Draft>(({ pending }) => pending.unconfirmed ?? []);

type Draft = NonNullable<CreatedMethod["pending"]["unconfirmed"]>;

type PendingMember = CreatedMethod["pending"] | Draft;

const pendingMembers = Object.fromEntries(
  [...createdInRegistrations.map<PendingMember>(({ pending }) => pending), ...drafts].map(
    ({ member, schema }) => [member, schema.optional()],
  ),
) as { [Kept in PendingMember as Kept["member"]]: z.ZodOptional<Kept["schema"]> };

/** The canonical identifiers of a flow, entered by the user or the account's own, and whether this flow verified them. */
const identifierMembers = Object.fromEntries(
  identifiers.flatMap(({ kind, verified }) => [
    [kind, z.string().optional()],
    ...(verified === null ? [] : [[verified, z.boolean().optional()]]),
  ]),
) as Record<IdentifierKind, z.ZodOptional<z.ZodString>> &
  Record<VerifiedIdentifier["verified"], z.ZodOptional<z.ZodBoolean>>;

/** Data that a flow keeps between steps. `back` restores it, except for the members in `keptOnBack`. */
export const flowData = z.object({
  capabilities: z
    .object({ webauthn: z.boolean(), conditionalMediation: z.boolean(), platformAuthenticator: z.boolean() })
    .optional(),
  rememberMe: z.boolean().optional(),
  /** S256 challenge (RFC 7636, 4.2) of a flow that passes its session on by an authorization code. */
  codeChallenge: z.string().optional(),
  /** Origin of the page in whose frame the flow was started. */
  frameOrigin: z.string().optional(),
  /** Login identifier in canonical form, and as it was typed; a step-up takes it from the account, untyped. */
  identifier: z
    .object({ kind: z.enum(identifierKinds), value: z.string(), typed: z.string().optional() })
    .optional(),
  /** How this browser signed in to the account last, as its mark says. */
  lastMethod: z
    .union([
      z.object({ method: z.enum(markedMethods) }),
      z.object({ provider: z.string().meta({ recordedAs: "provider" }) }),
    ])
    .optional(),
  ...identifierMembers,
  /** Account of this flow; at registration the one that will be created. */
  userId: z.uuid().optional(),
  /** The mailed code that the flow waits for. */
  passcode: z
    .object({
      purpose: z.enum(["login", "recovery", "email_verification"]),
      /** Mail recipient; absent if the account has no address or does not exist. */
      recipient: z.string().optional(),
      /** True: no code is accepted, and responses do not reveal it. */
      decoy: z.boolean(),
      notice: z.enum(["email_login_attempted", "email_registration_attempted"]).optional(),
    })
    .optional(),
  /** The code by SMS that the flow waits for. */
  sms: z
    .object({
      purpose: z.enum(["sms_login", "phone_verification"]),
      /** The number (E.164); absent if the account has none or does not exist. */
      recipient: z.string().optional(),
      /** As for `passcode`. */
      decoy: z.boolean(),
      /** The number is to be the second factor. */
      enrols: z.boolean().optional(),
    })
    .optional(),
  factors: z.array(factor).default([]),
  /** Names the session at the identity provider that the first factor has made, if a sign-out is to end it. */
  providerSession: z.string().optional(),
  /** Set after an identity provider identified the user: this flow created the account, or it existed before. */
  signedUp: z.enum(["created", "known"]).optional(),
  /** Return address after a redirect to an identity provider; one of the allowed addresses. */
  returnTo: z.string().optional(),
  /** Kind of credential that is being created. */
  credentialKind: z.enum(["passkey", "security_key"]).optional(),
  /** Whether this flow enrolled a second factor. */
  enrolled: z.boolean().optional(),
  /** The user chose to trust this device: it may skip the second factor. */
  trustsDevice: z.boolean().optional(),
  /** The classes of authentication that the application asks for, one of which suffices. */
  classes: z.array(z.enum(contextClasses)).optional(),
  /** Login only: the accounts of the browser, of which an application lets the user choose one. */
  choice: z
    .object({
      /** Identifies the authorization request. */
      request: z.string(),
      /** The account that is signed in. */
      userId: z.uuid().optional(),
      accounts: z.array(z.object({ key: z.string().meta({ recordedAs: "account_key" }), name: z.string() })),
    })
    .optional(),
  /** Consent flow only: the authorization request that the user is asked about. */
  authorization: waitingAuthorization.optional(),
  /** Consent flow only: the code of a device that the user is to enter, as the address of the page names it. */
  userCode: z.string().max(MAX_USER_CODE_CHARACTERS).optional(),
  /** Profile flow only: its session. */
  sessionId: z.uuid().optional(),
  /** Profile flow only: the user is reauthenticating. */
  steppingUp: z.boolean().optional(),
  /** A recovery code mail was confirmed and the new password is not set yet. */
  recovering: z.boolean().optional(),
  /** States of the plan that were completed or skipped. */
  completedStates: z.array(z.enum(stateNames)).default([]),
  /** When the present state was entered, in milliseconds since 1970. */
  enteredAt: z.int().optional(),
  /** Data to write at the end of a registration. */
  pending: z
    .object({
      ...pendingMembers,
      /** Identity to link once the second factor is verified. */
      identity: providerFacts.optional(),
    })
    .default({}),
});

export type FlowData = z.output<typeof flowData>;
export type DataKey = keyof FlowData;
export type DataPatch = { [Key in DataKey]?: FlowData[Key] | undefined };

/** Returns pending data without what is set up and not confirmed yet. */
export function withoutUnconfirmed(pending: FlowData["pending"]): FlowData["pending"] {
  return { ...pending, ...Object.fromEntries(drafts.map(({ member }) => [member, undefined])) };
}

/**
 * Members that `back` does not restore, and the history does not hold: they hold secrets, are sent only once, or are of the
 * present state.
 */
export const keptOnBack = [
  "pending",
  "capabilities",
  "rememberMe",
  "enteredAt",
] as const satisfies readonly DataKey[];

export const historyEntry = z.object({
  state: z.enum(stateNames),
  data: flowData.omit({ pending: true, capabilities: true, rememberMe: true, enteredAt: true }),
});

/**
 * Returns what a flow keeps when it ends: what a lost answer is repeated with. Its row stays for a day, without the
 * addresses and names that were entered.
 */
export function dataAtEnd({ userId, rememberMe, codeChallenge }: FlowData): FlowData {
  return { userId, rememberMe, codeChallenge, factors: [], completedStates: [], pending: {} };
}

export type HistoryEntry = z.output<typeof historyEntry>;

/** An action that requires recent authentication, to be performed once the user has reauthenticated. */
export interface WantedAction {
  action: string;
  /** Input as sent. */
  input: Record<string, unknown>;
  /** The session that asked for it. */
  sessionId: string;
}

/** State of a flow, as the pure functions see it. */
export interface FlowRecord {
  id: string;
  type: (typeof flowTypes)[number];
  state: (typeof stateNames)[number];
  version: number;
  data: FlowData;
  history: HistoryEntry[];
  payload: Record<string, unknown>;
  /** Members of the payload that are stored sealed. */
  secrets: Record<string, unknown>;
  /** Profile flow only: what the user reauthenticates for. Stored sealed, because its input may hold a password. */
  wanted: WantedAction | null;
}

/** Hashes of the resume secrets that a flow accepts. */
export interface ResumeHashes {
  /** Of the secret in the newest answer. */
  current: Buffer;
  /** Of the secret in the answer before it; null if it is no longer accepted. */
  previous: Buffer | null;
}

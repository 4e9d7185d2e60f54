import { type IdentifierFacts, type IdentifierKind, verifiedIdentifiers } from "../identity/identifiers.ts";
import { firstFactors } from "../methods/index.ts";
import type { DataPatch, FlowData } from "./data.ts";

/**
 * The codes that a flow waits for, each sent to an identifier of one kind: in which state and member of the data, and what
 * they are sent for.
 */
const codes = {
  email: {
    state: "passcode_confirmation",
    member: "passcode",
    login: "login",
    verification: "email_verification",
    isShownAsTyped: true,
    notices: { unknown: "email_login_attempted", taken: "email_registration_attempted" },
  },
  phone: {
    state: "phone_confirmation",
    member: "sms",
    login: "sms_login",
    verification: "phone_verification",
    // The canonical form tells in which country a number was read.
    isShownAsTyped: false,
    notices: null,
  },
} as const;

type CodeKind = keyof typeof codes;

/** The states in which a user enters the code that was sent to an identifier. */
export const confirmationStates = { email: codes.email.state, phone: codes.phone.state };

/** Changes of the data after which a flow waits for no code. */
export const noCodes = Object.fromEntries(
  Object.values(codes).map(({ member }) => [member, undefined]),
) as Partial<Record<(typeof codes)[CodeKind]["member"], undefined>>;

/** Returns the identifiers of an account that codes can be sent to, as members of the data. */
export function recipientsOf(facts: IdentifierFacts): { [Kind in CodeKind]?: string | undefined } {
  return Object.fromEntries(verifiedIdentifiers.map(({ kind }) => [kind, facts[kind] ?? undefined]));
}

/**
 * Returns the code of a sign-in, as a change of the data. Without an account or a recipient it is a decoy: the responses
 * are the same, and no code is accepted.
 */
export function loginCode(
  kind: CodeKind,
  data: FlowData,
  purpose: "login" | "recovery" | "sms_login" = codes[kind].login,
): DataPatch {
  const { member, notices } = codes[kind];
  const recipient = data[kind];
  return {
    [member]: {
      purpose,
      decoy: data.userId === undefined || !recipient,
      ...(recipient ? { recipient } : {}),
      ...(notices && !data.userId ? { notice: notices.unknown } : {}),
    },
  };
}

/**
 * Returns the code that verifies an identifier, as a change of the data. If it is taken, no code is accepted, so that the
 * states do not tell; a taken address receives a notice.
 *
 * @param recipient in canonical form
 * @param enrols whether it is to be the second factor of the account
 */
export function verificationCode(
  kind: CodeKind,
  recipient: string,
  taken: boolean,
  { enrols = false }: { enrols?: boolean } = {},
): DataPatch {
  const { member, verification, notices } = codes[kind];
  return {
    [member]: {
      purpose: verification,
      recipient,
      decoy: taken,
      ...(notices && taken ? { notice: notices.taken } : {}),
      ...(enrols ? { enrols } : {}),
    },
  };
}

/** Returns the code that the state of a method expects, and no other one, as a change of the data. */
export function codeOfState(state: string, data: FlowData): DataPatch {
  const method = firstFactors.find(({ firstFactor }) => firstFactor.state === state);
  const kind = method?.firstFactor.codeTo ?? null;
  return kind === null ? noCodes : { ...noCodes, ...loginCode(kind, data) };
}

/** Returns the identifier that the code of a state verifies, as its user is shown it; undefined in other states. */
export function recipientToVerify(state: string, { identifier, ...data }: FlowData): string | undefined {
  const code = Object.values(codes).find(
    ({ state: own, member, verification }) => state === own && data[member]?.purpose === verification,
  );
  const recipient = code && data[code.member]?.recipient;
  return code?.isShownAsTyped && identifier?.value === recipient
    ? (identifier?.typed ?? recipient)
    : recipient;
}

/** Returns the data without an identifier, its verification and the code that verifies it, which cannot be used again. */
export function withoutIdentifier(kind: IdentifierKind, data: FlowData): FlowData {
  const removed: string[] = [kind];
  const verified = verifiedIdentifiers.find((identifier) => identifier.kind === kind);
  if (verified) removed.push(verified.verified, codes[verified.kind].member);
  return Object.fromEntries(Object.entries(data).filter(([member]) => !removed.includes(member))) as FlowData;
}

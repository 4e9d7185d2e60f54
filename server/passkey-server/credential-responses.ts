import {
  type AuthenticationResponse,
  authenticationResponse,
  type ClientData,
  type RegistrationResponse,
  readClientData,
  registrationResponse,
} from "../webauthn/responses.ts";

/**
 * Browser responses as applications pass them on: the JSON forms of WebAuthn Level 3 section 5.1. Tolerates padding at
 * the end of base64url, and `transports` beside `response`, where older clients send them.
 */

/** @returns null if the body is not a registration response or its client data cannot be read */
export function readRegistrationResponse(
  body: unknown,
): { answer: RegistrationResponse; clientData: ClientData } | null {
  const { response, ...credential } = withoutPadding(body);
  const { transports: named, ...attested } = withoutPadding(response);
  const transports = Array.isArray(named) && named.length > 0 ? named : credential.transports;
  return withClientData(
    registrationResponse.safeParse({ ...credential, response: { ...attested, transports } }).data,
  );
}

/** @returns null if the body is not an authentication response or its client data cannot be read */
export function readAuthenticationResponse(
  body: unknown,
): { answer: AuthenticationResponse; clientData: ClientData } | null {
  const { response, ...credential } = withoutPadding(body);
  return withClientData(
    authenticationResponse.safeParse({ ...credential, response: withoutPadding(response) }).data,
  );
}

function withClientData<Answer extends { response: { clientDataJSON: string } }>(answer: Answer | undefined) {
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  return clientData ? { answer, clientData } : null;
}

/** Returns the members of an object, their base64url values without padding; an empty object for any other value. */
function withoutPadding(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const members = Object.entries(value).map(([name, member]) => [
    name,
    typeof member === "string" && name !== "type" ? member.replace(/={1,2}$/, "") : member,
  ]);
  return Object.fromEntries(members);
}

import {
  type AuthenticationResponse,
  authenticationResponse,
  type ClientData,
  type RegistrationResponse,
  readClientData,
  registrationResponse,
} from "../webauthn/responses.ts";

/**
 * What browsers answer, as applications pass it on: the JSON forms of WebAuthn Level 3 section 5.1, with padding at the
 * end of base64url tolerated, and transports where older clients put them.
 */

/** @returns null when it is not the answer to a registration, or carries nothing that a client says */
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

/** @returns null when it is not the answer to an authentication, or carries nothing that a client says */
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

/** The members of an object, bytes without their padding; none for anything else. */
function withoutPadding(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const members = Object.entries(value).map(([name, member]) => [
    name,
    typeof member === "string" && name !== "type" ? member.replace(/={1,2}$/, "") : member,
  ]);
  return Object.fromEntries(members);
}

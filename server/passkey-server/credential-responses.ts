import type { z } from "zod";
import { parseMember } from "../lib/parse-member.ts";
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

/** A response, or the member for which it is rejected. */
export type ReadResponse<Answer> =
  | { ok: true; answer: Answer; clientData: ClientData }
  | { ok: false; details: string };

export function readRegistrationResponse(body: unknown): ReadResponse<RegistrationResponse> {
  const { response, ...credential } = withoutPadding(body);
  const { transports: named, ...attested } = withoutPadding(response);
  const transports = Array.isArray(named) && named.length > 0 ? named : credential.transports;
  return read(registrationResponse, { ...credential, response: { ...attested, transports } });
}

export function readAuthenticationResponse(body: unknown): ReadResponse<AuthenticationResponse> {
  const { response, ...credential } = withoutPadding(body);
  return read(authenticationResponse, { ...credential, response: withoutPadding(response) });
}

function read<Answer extends { response: { clientDataJSON: string } }>(
  schema: z.ZodType<Answer>,
  response: unknown,
): ReadResponse<Answer> {
  const parsed = parseMember(schema, response);
  if (!parsed.ok) return parsed;
  const answer = parsed.value;
  const clientData = readClientData(answer.response.clientDataJSON);
  return clientData
    ? { ok: true, answer, clientData }
    : { ok: false, details: "response.clientDataJSON cannot be read" };
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

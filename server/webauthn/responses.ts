import { z } from "zod";
import { parseJson } from "../lib/strict-json.ts";

/**
 * The JSON forms of WebAuthn Level 3 section 5.1 that browsers send: the members that are used here, limited in size.
 * Other members are ignored.
 */

const base64url = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[A-Za-z0-9_-]+$/, "must be base64url");

/** 1023 bytes, section 7.1 step 25. */
const credentialId = base64url(1364);
const clientDataJSON = base64url(8192);

export const registrationResponse = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON,
    attestationObject: base64url(49_152),
    transports: z.array(z.string().max(64)).max(16).nullish(),
  }),
});

export type RegistrationResponse = z.output<typeof registrationResponse>;

export const authenticationResponse = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON,
    authenticatorData: base64url(8192),
    signature: base64url(2048),
    /** 64 bytes at most, section 5.4.3. Some clients send an empty string if there is none. */
    userHandle: z
      .string()
      .max(88)
      .regex(/^[A-Za-z0-9_-]*$/, "must be base64url")
      .nullish(),
  }),
});

export type AuthenticationResponse = z.output<typeof authenticationResponse>;

/** The collected client data of section 5.8.1. */
const clientData = z.object({
  type: z.string(),
  challenge: base64url(128),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

export type ClientData = z.output<typeof clientData>;

/**
 * Decodes the client data: UTF-8 decoding, which drops a byte order mark, then JSON (section 7.1 steps 5 and 6, section
 * 7.2 steps 8 and 9). A duplicate member is malformed: parsers may read different ones (RFC 7493 section 2.3).
 *
 * @returns null if it is malformed
 */
export function readClientData(encoded: string): ClientData | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64url"));
    return clientData.parse(parseJson(text));
  } catch {
    return null;
  }
}

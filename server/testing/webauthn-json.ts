/** The JSON forms of Web Authentication Level 3, section 5.1: options and the results of `toJSON()`. */

interface CredentialJson<Response> {
  id: string;
  rawId: string;
  type: "public-key";
  authenticatorAttachment: "platform" | "cross-platform";
  clientExtensionResults: Record<string, unknown>;
  response: Response;
}

/** RegistrationResponseJSON; byte strings are base64url. */
export type RegistrationJson = CredentialJson<{
  clientDataJSON: string;
  attestationObject: string;
  authenticatorData: string;
  transports: string[];
  publicKeyAlgorithm: number;
  publicKey?: string;
}>;

/** AuthenticationResponseJSON; byte strings are base64url. */
export type AssertionJson = CredentialJson<{
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
  userHandle?: string;
}>;

/** Wraps a response in the members that all credentials share. */
export function credentialJson<Response>(
  credentialId: Uint8Array,
  authenticatorAttachment: "platform" | "cross-platform",
  response: Response,
): CredentialJson<Response> {
  const id = base64url(credentialId);
  return { id, rawId: id, type: "public-key", authenticatorAttachment, clientExtensionResults: {}, response };
}

/**
 * Returns the options, given directly or as the member `publicKey`.
 *
 * @throws TypeError if they contain no challenge
 */
export function publicKeyOf<Options extends { challenge: string }>(given: unknown): Options {
  const bare = (given as { publicKey?: unknown } | undefined)?.publicKey ?? given;
  if (typeof (bare as Options | undefined)?.challenge !== "string") {
    throw new TypeError("these are not WebAuthn options");
  }
  return bare as Options;
}

export const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

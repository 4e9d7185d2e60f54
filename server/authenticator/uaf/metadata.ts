import { usualAlgorithms } from "./algorithms.ts";
import { keyFormats } from "./public-keys.ts";

/** What is known, and demanded, of the authenticators of one model. */
export interface AuthenticatorMetadata {
  /** Vendor and model, four hex digits each, in capitals: `006F#0001`. */
  aaid: string;
  name?: string;
  /** Signature algorithms, see `algorithms.ts`. */
  algorithms: readonly number[];
  /** Formats of public keys, see `public-keys.ts`. */
  keyFormats: readonly number[];
  /** With `full` a key has to be vouched for by a certificate that leads to one of the roots; `surrogate` vouches for itself. */
  attestation: "surrogate" | "full";
  /** Certificates in PEM: those of authorities, or of authenticators themselves. */
  roots: readonly string[];
  /** The lowest version of the authenticator that is accepted. */
  version: number;
  revoked: boolean;
}

/** An accepted model as configuration names it. */
export interface AcceptedAuthenticator {
  aaid: string;
  name?: string | undefined;
  algorithms?: readonly number[] | undefined;
  key_formats?: readonly number[] | undefined;
  attestation?: "surrogate" | "full" | undefined;
  roots?: readonly string[] | undefined;
  version?: number | undefined;
  revoked?: boolean | undefined;
}

/**
 * Fills in what configuration leaves open: all that can be verified is accepted, and nothing has to be vouched for
 * where nobody is named who could.
 */
export function authenticatorMetadata(accepted: AcceptedAuthenticator): AuthenticatorMetadata {
  return {
    aaid: accepted.aaid.toUpperCase(),
    ...(accepted.name === undefined ? {} : { name: accepted.name }),
    algorithms: accepted.algorithms ?? usualAlgorithms,
    keyFormats: accepted.key_formats ?? keyFormats,
    attestation: accepted.attestation ?? (accepted.roots?.length ? "full" : "surrogate"),
    roots: accepted.roots ?? [],
    version: accepted.version ?? 0,
    revoked: accepted.revoked ?? false,
  };
}

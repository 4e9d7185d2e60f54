import type { Config } from "../../config/schema.ts";
import { defaultAlgorithms } from "./algorithms.ts";
import { keyFormats } from "./public-keys.ts";

/** Properties and requirements of one authenticator model. */
export interface AuthenticatorMetadata {
  /** Vendor and model, four upper-case hex digits each: `006F#0001`. */
  aaid: string;
  name?: string;
  /** Signature algorithms, see `algorithms.ts`. */
  algorithms: readonly number[];
  /** Formats of public keys, see `public-keys.ts`. */
  keyFormats: readonly number[];
  /** `full` requires a certificate that chains to one of the roots; `surrogate` accepts the key's own signature. */
  attestation: "surrogate" | "full";
  /** Certificates in PEM, of authorities or of authenticators themselves. */
  roots: readonly string[];
  /** The lowest accepted version of the authenticator. */
  version: number;
  revoked: boolean;
  /** Longest transaction text that it shows, in bytes of UTF-8. */
  maxTransactionBytes: number;
}

type Accepted = Config["authenticator"]["accepted"][number];

/** An accepted model in the configuration. */
export type AcceptedAuthenticator = Pick<Accepted, "aaid"> & Partial<Accepted>;

/**
 * Applies the defaults: every supported algorithm and key format is accepted, and full attestation is required only if
 * roots are configured.
 */
export function authenticatorMetadata(accepted: AcceptedAuthenticator): AuthenticatorMetadata {
  return {
    aaid: accepted.aaid.toUpperCase(),
    ...(accepted.name === undefined ? {} : { name: accepted.name }),
    algorithms: accepted.algorithms ?? defaultAlgorithms,
    keyFormats: accepted.key_formats ?? keyFormats,
    attestation: accepted.attestation ?? (accepted.roots?.length ? "full" : "surrogate"),
    roots: accepted.roots ?? [],
    version: accepted.version ?? 0,
    revoked: accepted.revoked ?? false,
    maxTransactionBytes: accepted.max_transaction_bytes ?? 150,
  };
}

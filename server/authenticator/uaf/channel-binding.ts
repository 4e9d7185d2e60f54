import { createHash, X509Certificate } from "node:crypto";
import { decodePaddedBase64url } from "../../lib/base64url.ts";

/** Which channel bindings of responses are accepted (dictionary ChannelBinding, UAF Protocol Specification 1.1 and 1.2). */
export interface ChannelBindingPolicy {
  /**
   * `refuse`: none, because this process does not see the TLS connection. `verify`: none that contradicts the server's
   * certificates. `require`: the same, and the response names the server's certificate.
   */
  mode: "refuse" | "verify" | "require";
  /** Certificates in PEM of the TLS server that receives the responses: more than one while they are replaced. */
  certificates: readonly string[];
}

export type ChannelBindingRejection =
  | "channel_binding_refused"
  | "channel_binding_mismatch"
  | "channel_binding_missing";

/**
 * Hash functions of the end point binding. RFC 5929, section 4.1, takes that of the certificate's signature, or SHA-256 for
 * a weaker one. Any of them identifies the certificate, so each is accepted.
 */
const hashes = ["sha256", "sha384", "sha512"];

/**
 * Verifies the channel binding of a response. `serverEndPoint` and `tlsServerCertificate` are compared with the
 * certificates. `cid_pubkey` must be `unused`: the server does not offer TLS Channel ID. `tlsUnique` and unknown members are
 * known only where TLS ends, so they count as absent unless the policy is `refuse`.
 *
 * @param binding of the final challenge parameters; null and empty members count as absent
 * @returns null if it is accepted
 */
export function verifyChannelBinding(
  binding: Readonly<Record<string, unknown>>,
  { mode, certificates }: ChannelBindingPolicy,
): ChannelBindingRejection | null {
  const { serverEndPoint, tlsServerCertificate, cid_pubkey: channelId } = binding;
  if (mode === "refuse") return Object.values(binding).some(isFilled) ? "channel_binding_refused" : null;
  const known = certificates.map((pem) => new X509Certificate(pem).raw);
  const endPoints = known.flatMap((der) => hashes.map((hash) => createHash(hash).update(der).digest()));
  if (isFilled(tlsServerCertificate) && !isOneOf(tlsServerCertificate, known))
    return "channel_binding_mismatch";
  if (isFilled(serverEndPoint) && !isOneOf(serverEndPoint, endPoints)) return "channel_binding_mismatch";
  if (isFilled(channelId) && channelId !== "unused") return "channel_binding_mismatch";
  const isBound = isFilled(serverEndPoint) || isFilled(tlsServerCertificate);
  return mode === "require" && !isBound ? "channel_binding_missing" : null;
}

const isFilled = (member: unknown) => member !== undefined && member !== null && member !== "";

/** @param encoded base64url, with or without padding */
function isOneOf(encoded: unknown, values: readonly Buffer[]): boolean {
  const bytes = typeof encoded === "string" ? decodePaddedBase64url(encoded) : null;
  return bytes !== null && values.some((value) => value.equals(bytes));
}

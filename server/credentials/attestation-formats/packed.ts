import { algorithmOf } from "../cose-key.ts";
import type { StatementVerifier } from "./statement.ts";

/**
 * What is left of Packed Attestation (WebAuthn Level 3 section 8.2) when its signature was found right: a key that
 * attests itself does so by its own algorithm.
 */
export const verifyPacked: StatementVerifier = ({ members, publicKey }) =>
  members.has("x5c") || members.get("alg") === algorithmOf(publicKey);

import { algorithmOf } from "../cose-key.ts";
import { isWellSpelled } from "../ecdsa-signature.ts";
import type { StatementVerifier } from "./statement.ts";

/**
 * What is left of Packed Attestation (WebAuthn Level 3 section 8.2) when its signature was found right: it has the
 * one form that it may have, and a key that attests itself does so by its own algorithm.
 */
export const verifyPacked: StatementVerifier = ({ members, publicKey }) =>
  isWellSpelled(members.get("alg"), members.get("sig")) &&
  (members.has("x5c") || members.get("alg") === algorithmOf(publicKey));

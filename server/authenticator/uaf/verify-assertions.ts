import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { ASSERTION_SCHEME, decodeAssertion } from "./assertions.ts";
import type { UafResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import { isSameKey, type KeyName } from "./policy.ts";
import type { Member } from "./tlv-structure.ts";
import type { ExpectedResponse } from "./verify-response.ts";

/** What both operations verify of assertions. */

/**
 * Verifies the assertions of a response.
 *
 * @returns the valid ones, at least one, each key once; otherwise the rejection of the first. A response with a disallowed
 *   authenticator is rejected whole
 */
export function verifyEach<Sent, Verified extends KeyName>(
  assertions: readonly Sent[],
  verify: (sent: Sent) => Verified | UafRejection,
): { ok: true; verified: Verified[] } | UafRejection {
  const verified: Verified[] = [];
  const rejected: UafRejection[] = [];
  for (const sent of assertions) {
    const verdict = verify(sent);
    if ("reason" in verdict) rejected.push(verdict);
    else if (!verified.some((other) => isSameKey(other, verdict))) verified.push(verdict);
  }
  const disallowed = rejected.find(({ reason }) => reason === "authenticator_disallowed");
  if (disallowed) return disallowed;
  return verified.length > 0 ? { ok: true, verified } : (rejected[0] ?? rejectUaf("message_malformed"));
}

/** Reads an assertion of an accepted model (UAF Protocol Specification 1.1, sections 3.4.6.5 and 3.5.7.5). */
export function readAssertion<Assertion extends { signed: { value: { aaid: string; keyId: Buffer } } }>(
  sent: UafResponse["assertions"][number],
  form: Member<Assertion>,
  { accepted, strict }: ExpectedResponse,
): { ok: true; assertion: Assertion; metadata: AuthenticatorMetadata; key: KeyName } | UafRejection {
  // Ensure the assertion scheme is supported (step 4).
  if (sent.assertionScheme !== ASSERTION_SCHEME) return rejectUaf("scheme_unknown");

  // Ensure it has exactly the specified members, in their order (step 4).
  const assertion = decodeAssertion(sent.assertion, form, strict);
  if (!assertion) return rejectUaf("assertion_malformed");
  const { aaid, keyId } = assertion.signed.value;

  // Ensure the model is accepted and not revoked (step 5).
  const metadata = accepted.find((model) => model.aaid === aaid);
  if (!metadata) return rejectUaf("aaid_unknown");
  if (metadata.revoked) return rejectUaf("authenticator_revoked");

  return { ok: true, assertion, metadata, key: { aaid, keyId: keyId.toString("base64url") } };
}

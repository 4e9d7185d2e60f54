import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { type Proof, type VerifiedAssertion, verifyAssertion } from "../../credentials/passkeys.ts";
import { factsById } from "../../identity/users.ts";
import type { FlowData } from "../data.ts";
import { action, type Context, type View } from "../define.ts";
import { accountFacts } from "../facts.ts";
import { NEXT } from "../names.ts";
import { next, refuse } from "../outcome.ts";
import { canUseSecurityKeys } from "../second-factor.ts";

const nobody = "00000000-0000-0000-0000-000000000000";

/** Signs in by a passkey's answer to a challenge of this flow, or shows by one that a second factor is at hand. */
export const verifyAssertionResponse = action({
  description: "Send the assertion response that the browser's WebAuthn API produced.",
  input: z.strictObject({ assertion_response: z.record(z.string(), z.unknown()) }),
  when: isOffered,
  to: [NEXT],
  errors: ["passkey_invalid", "webauthn_credential_invalid_mfa_only"],
  async run(context, { assertion_response }) {
    const { request, flowId, data, db } = context;
    const proof = assertionProof(data);
    // Who was named is who has to answer. A name that is nobody's is answered by nobody, as if it were somebody's.
    const named = data.userId ?? (data.identifier ? nobody : undefined);
    const verified = await verifyAssertion(request, {
      flowId,
      response: assertion_response,
      ...proof,
      ...(named ? { userId: named } : {}),
    });
    const method = proof.secondFactor ? "security_key" : "passkey";
    if (!verified.ok) return refused(context, method, verified);
    const { userId, userVerified, write } = verified;
    const factors = [...data.factors, { method, at: request.now.toISOString(), userVerified } as const];
    if (proof.secondFactor) return next({ data: { factors }, writes: [write] });
    const user = await factsById(db, request.tenant.id, userId);
    return next({
      data: { userId, ...(user?.email ? { email: user.email } : {}), factors },
      facts: user ? accountFacts(user) : {},
      writes: [write],
    });
  },
});

/**
 * What an assertion proves at this point of a flow: who somebody is, or, of somebody who has shown one factor, that
 * they hold another. After a passkey that did not verify its user, holding one of the account's credentials is proved
 * already: this time its user has to be verified (NIST SP 800-63B-4 section 3.1.7).
 */
export function assertionProof({ factors }: Pick<FlowData, "factors">): Proof {
  if (factors.length === 0) return {};
  return { secondFactor: true, verified: factors.every(({ method }) => method === "passkey") };
}

/** As a first factor a passkey serves where passkeys do, as a second one whatever the client can use. */
function isOffered({ data, config }: View): boolean {
  if (assertionProof(data).secondFactor) return canUseSecurityKeys(data.capabilities, config);
  return data.capabilities?.webauthn === true && config.passkey.enabled;
}

function refused({ request }: Context, method: string, { reason, ...of }: VerifiedAssertion & { ok: false }) {
  const details = { method, reason };
  const writes = [audit(request, "login_failure", details, of.userId ?? null)];
  if (reason === "mfa_only") {
    return refuse("webauthn_credential_invalid_mfa_only", { renew: true, writes });
  }
  // A browser that hears this can have the credential taken off its list (WebAuthn Level 3 section 5.1.10).
  const payload =
    reason === "credential_unknown"
      ? {
          unknown_credential: {
            rp_id: request.tenant.config.webauthn.relying_party.id,
            credential_id: of.credentialId,
          },
        }
      : {};
  return refuse("passkey_invalid", { renew: true, writes, payload });
}

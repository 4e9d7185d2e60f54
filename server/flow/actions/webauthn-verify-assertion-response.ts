import { z } from "zod";
import { all, any, circumstance, not } from "../../conditions/condition.ts";
import {
  askForAssertion,
  type Proof,
  type VerifiedAssertion,
  verifyAssertion,
} from "../../methods/passkey/passkeys.ts";
import { canUseFactor } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { isOnlyTenant } from "../../tenants/only-tenant.ts";
import type { FlowData } from "../data.ts";
import { action, type Context, type View } from "../define.ts";
import { accountFacts } from "../facts.ts";
import { isAdmitted } from "../flow-statements.ts";
import { loginFailure } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { next, reject } from "../outcome.ts";
import { canUsePasskeys } from "./webauthn-generate-request-options.ts";

/** User id that no account has. */
const UNKNOWN_USER_ID = "00000000-0000-0000-0000-000000000000";

const isSecondFactor = circumstance<View>(
  "proves_second_factor",
  ({ data }) => requiredProof(data).secondFactor === true,
  {
    holds: "a first factor was verified",
    fails: "no first factor was verified",
  },
);

/** As a first factor it requires passkeys to be enabled, as a second one a client that can use security keys. */
const isOffered = any(
  all(isSecondFactor, canUseFactor(securityKey)),
  all(not(isSecondFactor), canUsePasskeys),
);

/** Verifies a WebAuthn assertion for a challenge of this flow, or for a sealed one, as the first or the second factor. */
export const verifyAssertionResponse = action({
  description: "Send the assertion response that the browser's WebAuthn API produced.",
  // The used challenge, the audit log, and a new challenge.
  costs: ["write", "write", "write"],
  input: z.strictObject({ assertion_response: z.record(z.string(), z.unknown()) }),
  when: isOffered,
  to: [NEXT],
  errors: ["passkey_invalid", "webauthn_credential_invalid_mfa_only"],
  proves: ({ data }) => methodOf(data),
  asks: (asking, { assertion_response: response }) =>
    askForAssertion(asking, { flowId: asking.flowId, response }, isAdmitted.sql),
  async run(context, _, found) {
    const { request, data } = context;
    const proof = requiredProof(data);
    // After an identifier only a credential of that account counts; for an unknown identifier none does.
    const expectedUserId = data.userId ?? (data.identifier ? UNKNOWN_USER_ID : undefined);
    const verified = await verifyAssertion(request, found, {
      ...proof,
      startedIn: data.frameOrigin,
      ...(expectedUserId ? { userId: expectedUserId } : {}),
    });
    const method = methodOf(data);
    if (!verified.ok) return rejectAssertion(context, method, verified);
    const { userId, userVerified, hardwareProtected, owner, writes } = verified;
    const factor = {
      method,
      at: request.now.toISOString(),
      userVerified,
      ...(hardwareProtected ? { hardwareProtected } : {}),
    };
    const factors = [...data.factors, factor];
    if (proof.secondFactor) return next({ data: { factors }, writes });
    return next({
      data: { userId, ...(owner?.email ? { email: owner.email } : {}), factors },
      facts: owner ? accountFacts(owner) : {},
      writes,
    });
  },
});

/**
 * Returns what an assertion must prove at this point of a flow: the identity of the user or, after a first factor, a
 * second one. After a passkey without user verification the assertion must verify the user, because possession of a
 * credential is proven already (NIST SP 800-63B-4, 3.1.7).
 */
export function requiredProof({ factors }: Pick<FlowData, "factors">): Proof {
  if (factors.length === 0) return {};
  return { secondFactor: true, verified: factors.every(({ method }) => method === "passkey") };
}

function methodOf(data: FlowData): "passkey" | "security_key" {
  return requiredProof(data).secondFactor ? "security_key" : "passkey";
}

async function rejectAssertion(
  context: Context,
  method: string,
  { reason, ...rejected }: VerifiedAssertion & { ok: false },
) {
  const writes = [loginFailure(context, { method, reason }, rejected.userId ?? null)];
  if (reason === "mfa_only") {
    return reject("webauthn_credential_invalid_mfa_only", { renew: true, writes });
  }
  // Lets the browser remove an unknown credential from its list (WebAuthn Level 3, 5.1.10). It may be known to another
  // tenant with the same relying party, whose passkey must stay.
  const { request, db } = context;
  const payload =
    reason === "credential_unknown" && (await isOnlyTenant(db, request.tenant.id))
      ? {
          unknown_credential: {
            rp_id: context.config.webauthn.relying_party.id,
            credential_id: rejected.credentialId,
          },
        }
      : {};
  return reject("passkey_invalid", { renew: true, writes, payload });
}

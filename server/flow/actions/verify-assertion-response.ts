import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { verifyAssertion } from "../../credentials/passkeys.ts";
import { factsById } from "../../identity/users.ts";
import { action } from "../define.ts";
import { factsOf } from "../facts.ts";
import { NEXT } from "../names.ts";
import { next, refuse } from "../outcome.ts";

const nobody = "00000000-0000-0000-0000-000000000000";

/** Signs in by a passkey's answer to a challenge of this flow. */
export const verifyAssertionResponse = action({
  description: "Send the assertion response that the browser's WebAuthn API produced.",
  input: z.strictObject({ assertion_response: z.record(z.string(), z.unknown()) }),
  when: ({ data, config }) => data.capabilities?.webauthn === true && config.passkey.enabled,
  to: [NEXT],
  errors: ["passkey_invalid", "webauthn_credential_invalid_mfa_only"],
  async run(context, { assertion_response }) {
    const { scope, flowId, data, db } = context;
    // Who was named is who has to answer. A name that is nobody's is answered by nobody, as if it were somebody's.
    const named = data.userId ?? (data.identifier ? nobody : undefined);
    const verified = await verifyAssertion(scope, {
      flowId,
      response: assertion_response,
      ...(named ? { userId: named } : {}),
    });
    if (!verified.ok) {
      const code =
        verified.reason === "mfa_only" ? "webauthn_credential_invalid_mfa_only" : "passkey_invalid";
      const details = { method: "passkey", reason: verified.reason };
      const failure = audit(scope, "login_failure", details, verified.userId ?? null);
      return refuse(code, { renew: true, writes: [failure] });
    }
    const { userId, userVerified } = verified;
    const user = await factsById(db, scope.tenant.id, userId);
    return next({
      data: {
        userId,
        ...(user?.email ? { email: user.email } : {}),
        factors: [...data.factors, { method: "passkey", at: scope.now.toISOString(), userVerified }],
      },
      facts: factsOf(context.type, data, user),
      writes: [verified.write],
    });
  },
});

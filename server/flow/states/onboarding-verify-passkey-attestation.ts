import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { openCreation, verifyAttestation } from "../../credentials/passkeys.ts";
import { credentialIds, insertCredential } from "../../credentials/webauthn-credentials.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { next, refuse } from "../outcome.ts";

/** The browser creates a passkey. */
export const onboardingVerifyPasskeyAttestation = state({
  name: "onboarding_verify_passkey_attestation",
  needs: ["userId"],
  renews: true,
  async enter({ scope, flowId, data, facts, db }) {
    const name = facts.email ?? facts.username ?? data.userId;
    const creation = await openCreation(scope, {
      flowId,
      user: { id: data.userId, name, displayName: facts.username ?? name },
      exclude: await credentialIds(db, scope.tenant.id, data.userId),
    });
    return { payload: { creation_options: creation.options }, writes: [creation.write] };
  },
  actions: (action) => ({
    webauthn_verify_attestation_response: action({
      description: "Send the attestation response that the browser's WebAuthn API produced.",
      input: z.strictObject({ public_key: z.record(z.string(), z.unknown()) }),
      when: ({ data, config }) => data.capabilities?.webauthn === true && config.passkey.enabled,
      to: [NEXT],
      errors: ["passkey_invalid"],
      async run({ type, scope, flowId, data }, { public_key }) {
        const { userId } = data;
        const verified = await verifyAttestation(scope, { flowId, response: public_key, userId });
        if (!verified.ok) return refuse("passkey_invalid", { renew: true });
        const { credential } = verified;
        if (type === "registration") return next({ data: { pending: { ...data.pending, credential } } });
        return next({
          facts: { hasPasskey: true },
          writes: [insertCredential(scope, userId, credential), audit(scope, "passkey_created", {}, userId)],
        });
      },
    }),
    back,
  }),
});

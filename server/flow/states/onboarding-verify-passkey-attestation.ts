import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { all, any, circumstance, not } from "../../conditions/condition.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { createCreationOptions } from "../../methods/passkey/passkeys.ts";
import { canUseFactor } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { insertCredential } from "../../methods/webauthn-credentials.ts";
import { back } from "../actions/back.ts";
import { canUsePasskeys } from "../actions/webauthn-generate-request-options.ts";
import { state, type View } from "../define.ts";
import { enrolledFactor } from "../enrolled-factor.ts";
import { isPendingRegistration } from "../facts.ts";
import { NEXT } from "../names.ts";
import {
  creationParameters,
  pendingCredentials,
  requireCredentialAddable,
  verifyNewCredential,
} from "../new-credential.ts";
import { next, reject } from "../outcome.ts";
import { mayAddCredential } from "../second-factor.ts";
import { createdPasskey } from "../verified-factors.ts";

const kindOf = ({ data }: Pick<View, "data">) => data.credentialKind ?? "passkey";

const isSecurityKey = circumstance<View>("credential_kind", (view) => kindOf(view) === "security_key", {
  holds: "the credential is a security key",
  fails: "the credential is a passkey",
});

const isOffered = all(
  any(all(isSecurityKey, canUseFactor(securityKey)), all(not(isSecurityKey), canUsePasskeys)),
  mayAddCredential,
);

/** The browser creates a passkey or registers a security key. */
export const onboardingVerifyPasskeyAttestation = state({
  name: "onboarding_verify_passkey_attestation",
  needs: ["userId"],
  // A published client prompts again as soon as it sees options.
  renews: "on_request",
  async enter(context) {
    const { options, write } = await createCreationOptions(context.request, {
      ...creationParameters(context),
      kind: kindOf(context),
    });
    return { payload: { creation_options: options }, writes: [write] };
  },
  actions: (action) => ({
    webauthn_verify_attestation_response: action({
      description: "Send the attestation response that the browser's WebAuthn API produced.",
      costs: ["write", "mail"],
      input: z.strictObject({ public_key: z.record(z.string(), z.unknown()) }),
      when: isOffered,
      to: [NEXT],
      errors: ["passkey_invalid"],
      async run(context, { public_key }) {
        const { request, data, facts } = context;
        const { userId } = data;
        const kind = kindOf({ data });
        const verified = await verifyNewCredential(context, public_key, kind);
        if (!verified.ok) return reject("passkey_invalid", { renew: true });
        const { credential } = verified;
        const isPending = isPendingRegistration(context);
        // Rejects a second credential with the same id.
        if (isPending && pendingCredentials(data).some(({ id }) => id === credential.id))
          return reject("passkey_invalid", { renew: true });
        if (kind === "security_key") return enrolledFactor(context, securityKey, credential);
        if (isPending) return next({ data: { pending: { ...data.pending, credential } } });
        const created = { ...createdPasskey(credential), at: request.now.toISOString() };
        return next({
          facts: { hasPasskey: true },
          ...(credential.userVerified ? { data: { factors: [...data.factors, created] } } : {}),
          writes: [
            requireCredentialAddable(context),
            insertCredential(request, userId, credential),
            audit(request, "passkey_created", {}, userId),
          ],
          jobs: securityNotice(request, "passkey_create", facts.email),
        });
      },
    }),
    back,
  }),
});

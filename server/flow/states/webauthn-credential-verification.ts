import { z } from "zod";
import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { all, any, circumstance, holds, not } from "../../conditions/condition.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { createCreationOptions } from "../../methods/passkey/passkeys.ts";
import { canUseFactor } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { insertCredential } from "../../methods/webauthn-credentials.ts";
import type { RequestContext } from "../../runtime.ts";
import { revokeDevices } from "../../sessions/trusted-devices.ts";
import { back } from "../actions/back.ts";
import { canUsePasskeys } from "../actions/webauthn-generate-request-options.ts";
import { state, type View } from "../define.ts";
import { NEXT } from "../names.ts";
import { creationParameters, requireCredentialAddable, verifyNewCredential } from "../new-credential.ts";
import { type Effects, next, reject } from "../outcome.ts";
import { mayAddPasskey } from "../profile/credentials.ts";
import { mayAddSecurityKey } from "../profile/owned-factors.ts";

type Kind = "passkey" | "security_key";

const mayAdd = { passkey: mayAddPasskey, security_key: mayAddSecurityKey };

const isSecurityKey = circumstance<View>(
  "credential_kind",
  ({ data }) => data.credentialKind === "security_key",
  {
    holds: "the credential is a security key",
    fails: "the credential is a passkey",
  },
);

/** A signed-in user creates a passkey or a security key in the browser. */
export const webauthnCredentialVerification = state({
  name: "webauthn_credential_verification",
  needs: ["userId", "credentialKind"],
  // A published client prompts again as soon as it sees options.
  renews: "on_request",
  async enter(context) {
    const { request, data } = context;
    const creation = await createCreationOptions(request, {
      ...creationParameters(context),
      kind: data.credentialKind,
    });
    return { payload: { creation_options: creation.options }, writes: [creation.write] };
  },
  actions: (action) => ({
    webauthn_verify_attestation_response: action({
      description: "Send the attestation response that the browser's WebAuthn API produced.",
      costs: ["write", "mail"],
      input: z.strictObject({ public_key: z.record(z.string(), z.unknown()) }),
      when: any(all(isSecurityKey, canUseFactor(securityKey)), all(not(isSecurityKey), canUsePasskeys)),
      to: [NEXT],
      errors: ["passkey_invalid"],
      async run(context, { public_key }) {
        const { request, data, facts, config } = context;
        const { userId, credentialKind: kind } = data;
        const verified = await verifyNewCredential(context, public_key, kind);
        if (!verified.ok) return reject("passkey_invalid", { renew: true });
        const { facts: after, writes = [], ...effects } = effectsOf(request, kind, userId);
        return next({
          ...effects,
          facts: after ?? {},
          writes: [
            requireCredentialAddable(context),
            requireAccount(request, userId, (account) => holds(mayAdd[kind], { account, config })),
            insertCredential(request, userId, verified.credential),
            ...writes,
          ],
          jobs:
            kind === "passkey"
              ? securityNotice(request, "passkey_create", facts.email)
              : securityNotice(request, "mfa_create", facts.email, { factor: "security_key" }),
        });
      },
    }),
    back,
  }),
});

function effectsOf(request: RequestContext, kind: Kind, userId: string): Effects {
  if (kind === "passkey") {
    return {
      data: { credentialKind: undefined },
      facts: { hasPasskey: true },
      writes: [audit(request, "passkey_created", {}, userId)],
    };
  }
  return {
    data: { credentialKind: undefined, enrolled: true },
    facts: { hasSecurityKey: true },
    writes: [
      audit(request, "security_key_created", {}, userId),
      // Trust that was granted without this factor ends.
      (tx) => revokeDevices(tx, request.tenant.id, userId),
    ],
  };
}

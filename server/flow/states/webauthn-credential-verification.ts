import { z } from "zod";
import { whileAccount } from "../../account/account.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import { openCreation, verifyAttestation } from "../../credentials/passkeys.ts";
import { revokeDevices } from "../../credentials/trusted-devices.ts";
import { insertCredential } from "../../credentials/webauthn-credentials.ts";
import type { RequestContext } from "../../runtime.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { creationFor, whileAddable } from "../new-credential.ts";
import { type Effects, next, refuse } from "../outcome.ts";
import { mayAddPasskey } from "../profile/credentials.ts";
import { mayAddKey } from "../profile/second-factors.ts";
import { canUseSecurityKeys } from "../second-factor.ts";

type Kind = "passkey" | "security_key";

const mayAdd = { passkey: mayAddPasskey, security_key: mayAddKey };

/** Somebody who is signed in creates a passkey or a security key in their browser. */
export const webauthnCredentialVerification = state({
  name: "webauthn_credential_verification",
  needs: ["userId", "creating"],
  renews: true,
  async enter(context) {
    const { request, data } = context;
    const creation = await openCreation(request, { ...(await creationFor(context)), kind: data.creating });
    return { payload: { creation_options: creation.options }, writes: [creation.write] };
  },
  actions: (action) => ({
    webauthn_verify_attestation_response: action({
      description: "Send the attestation response that the browser's WebAuthn API produced.",
      input: z.strictObject({ public_key: z.record(z.string(), z.unknown()) }),
      when: ({ data, config }) =>
        data.creating === "security_key"
          ? canUseSecurityKeys(data.capabilities, config)
          : config.passkey.enabled && data.capabilities?.webauthn === true,
      to: [NEXT],
      errors: ["passkey_invalid"],
      async run(context, { public_key }) {
        const { request, flowId, data, facts, config } = context;
        const { userId, creating: kind } = data;
        const verified = await verifyAttestation(request, { flowId, response: public_key, userId, kind });
        if (!verified.ok) return refuse("passkey_invalid", { renew: true });
        const { facts: after, writes = [], ...effects } = added(request, kind, userId);
        return next({
          ...effects,
          facts: after ?? {},
          writes: [
            whileAddable(context),
            whileAccount(request, userId, (account) => mayAdd[kind](account, config)),
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

function added(request: RequestContext, kind: Kind, userId: string): Effects {
  if (kind === "passkey") {
    return {
      data: { creating: undefined },
      facts: { hasPasskey: true },
      writes: [audit(request, "passkey_created", {}, userId)],
    };
  }
  return {
    data: { creating: undefined, enrolled: true },
    facts: { hasSecurityKey: true },
    writes: [
      audit(request, "security_key_created", {}, userId),
      // What was trusted with less to show is trusted no more.
      (tx) => revokeDevices(tx, request.tenant.id, userId),
    ],
  };
}

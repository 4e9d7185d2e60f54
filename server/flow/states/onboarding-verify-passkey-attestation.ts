import { z } from "zod";
import type { Write } from "#db/write";
import { audit } from "../../audit/audit.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { createCreationOptions, verifyAttestation } from "../../methods/passkey/passkeys.ts";
import { canUse } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { insertCredential } from "../../methods/webauthn-credentials.ts";
import type { RequestContext } from "../../runtime.ts";
import { revokeDevices } from "../../sessions/trusted-devices.ts";
import { back } from "../actions/back.ts";
import { state, type View } from "../define.ts";
import { NEXT } from "../names.ts";
import { creationParameters, pendingCredentials, requireCredentialAddable } from "../new-credential.ts";
import { next, reject } from "../outcome.ts";
import { mayAddCredential } from "../second-factor.ts";

/** Effects of creating each kind of credential. */
const kinds = {
  passkey: {
    pending: "credential",
    data: {},
    facts: { hasPasskey: true },
    writes: (request: RequestContext, userId: string): Write[] => [
      audit(request, "passkey_created", {}, userId),
    ],
    notice: (request: RequestContext, to: string | null) => securityNotice(request, "passkey_create", to),
  },
  security_key: {
    pending: "securityKey",
    data: { enrolled: true },
    facts: { hasSecurityKey: true, deviceTrusted: false },
    writes: (request: RequestContext, userId: string): Write[] => [
      // Trust that was granted without this factor ends.
      (tx) => revokeDevices(tx, request.tenant.id, userId),
      audit(request, "security_key_created", {}, userId),
    ],
    notice: (request: RequestContext, to: string | null) =>
      securityNotice(request, "mfa_create", to, { factor: "security_key" }),
  },
} as const;

const kindOf = ({ data }: Pick<View, "data">) => data.credentialKind ?? "passkey";

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
        const { type, request, flowId, data, facts } = context;
        const { userId } = data;
        const kind = kindOf({ data });
        const verified = await verifyAttestation(request, {
          flowId,
          response: public_key,
          userId,
          kind,
          startedIn: data.frameOrigin,
        });
        if (!verified.ok) return reject("passkey_invalid", { renew: true });
        const { credential } = verified;
        const created = kinds[kind];
        if (type === "registration" && !data.signedUp) {
          // Rejects a second credential with the same id.
          if (pendingCredentials(data).some(({ id }) => id === credential.id))
            return reject("passkey_invalid", { renew: true });
          return next({
            data: { ...created.data, pending: { ...data.pending, [created.pending]: credential } },
          });
        }
        return next({
          data: created.data,
          facts: created.facts,
          writes: [
            requireCredentialAddable(context),
            insertCredential(request, userId, credential),
            ...created.writes(request, userId),
          ],
          jobs: created.notice(request, facts.email),
        });
      },
    }),
    back,
  }),
});

function isOffered(view: View): boolean {
  const { data, config } = view;
  const usable =
    kindOf(view) === "security_key"
      ? canUse(securityKey, data.capabilities, config)
      : data.capabilities?.webauthn === true && config.passkey.enabled;
  return usable && mayAddCredential(view);
}

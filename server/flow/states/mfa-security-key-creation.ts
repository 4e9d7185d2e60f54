import { all } from "../../conditions/condition.ts";
import { canUseFactor } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { go } from "../outcome.ts";
import { mayAddCredential } from "../second-factor.ts";

/** The user enrols a security key. */
export const mfaSecurityKeyCreation = state({
  name: "mfa_security_key_creation",
  needs: ["userId"],
  actions: (action) => ({
    webauthn_generate_creation_options: action({
      description: "Get creation options for a security key.",
      costs: ["write"],
      when: all(canUseFactor(securityKey), mayAddCredential),
      to: ["onboarding_verify_passkey_attestation"],
      run: () => go("onboarding_verify_passkey_attestation", { data: { credentialKind: "security_key" } }),
    }),
    back,
  }),
});

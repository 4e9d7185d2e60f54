import { canUse, canUseFactor } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { back } from "../actions/back.ts";
import { switchesFrom } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { state } from "../define.ts";
import { stepError } from "../errors.ts";

/** Second factor: the user proves possession of a security key. */
export const loginSecurityKey = state({
  name: "login_security_key",
  needs: ["userId"],
  async enter({ data, config }) {
    if (canUse(securityKey, data.capabilities, config)) return {};
    return { error: stepError("platform_authenticator_required") };
  },
  actions: () => ({
    webauthn_generate_request_options: {
      ...generateRequestOptions,
      description: "Get request options for a security key.",
      when: canUseFactor(securityKey),
    },
    ...switchesFrom(securityKey),
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

import { back } from "../actions/back.ts";
import { continueToLoginAuthenticator, continueToLoginOtp } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { state } from "../define.ts";
import { stepError } from "../errors.ts";
import { canUseSecurityKeys } from "../second-factor.ts";

/** Second factor: the user proves possession of a security key. */
export const loginSecurityKey = state({
  name: "login_security_key",
  needs: ["userId"],
  async enter({ data, config }) {
    if (canUseSecurityKeys(data.capabilities, config)) return {};
    return { error: stepError("platform_authenticator_required") };
  },
  actions: () => ({
    webauthn_generate_request_options: {
      ...generateRequestOptions,
      description: "Get request options for a security key.",
      when: ({ data, config }) => canUseSecurityKeys(data.capabilities, config),
    },
    continue_to_login_otp: continueToLoginOtp,
    continue_to_login_authenticator: continueToLoginAuthenticator,
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

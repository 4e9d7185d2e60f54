import { back } from "../actions/back.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { stepError } from "../errors.ts";
import { go } from "../outcome.ts";
import { canUseSecurityKeys, hasSecondFactor } from "../second-factor.ts";

/**
 * The user chooses a second factor to enrol. If another flow has enrolled one concurrently, that one is required first,
 * and no other can be enrolled here.
 */
export const mfaMethodChooser = state({
  name: "mfa_method_chooser",
  async enter({ data, config }) {
    const canEnrol = config.mfa.totp.enabled || canUseSecurityKeys(data.capabilities, config);
    return canEnrol ? {} : { error: stepError("platform_authenticator_required") };
  },
  actions: (action) => ({
    continue_to_otp_secret_creation: action({
      description: "Set up an authenticator app.",
      when: ({ config, facts }) =>
        config.mfa.enabled && config.mfa.totp.enabled && !hasSecondFactor(facts, config),
      to: ["mfa_otp_secret_creation"],
      run: () => go("mfa_otp_secret_creation"),
    }),
    continue_to_security_key_creation: action({
      description: "Set up a security key.",
      when: ({ data, config, facts }) =>
        canUseSecurityKeys(data.capabilities, config) && !hasSecondFactor(facts, config),
      to: ["mfa_security_key_creation"],
      run: () => go("mfa_security_key_creation"),
    }),
    skip: skip(({ config, facts }) => config.mfa.optional || hasSecondFactor(facts, config)),
    back,
  }),
});

import { action } from "../define.ts";
import { go } from "../outcome.ts";
import { canUseSecurityKeys, hasUsableAuthenticator } from "../second-factor.ts";

/** Actions that switch to another second factor of the account. */

export const continueToLoginOtp = action({
  description: "Use an authenticator app instead.",
  when: ({ facts, config }) => config.mfa.enabled && config.mfa.totp.enabled && facts.hasTotp,
  to: ["login_otp"],
  run: () => go("login_otp"),
});

export const continueToLoginSecurityKey = action({
  description: "Use a security key instead.",
  when: ({ data, facts, config }) => facts.hasSecurityKey && canUseSecurityKeys(data.capabilities, config),
  to: ["login_security_key"],
  run: () => go("login_security_key"),
});

/** Unknown to published clients, so it is offered only to accounts with an authenticator. */
export const continueToLoginAuthenticator = action({
  description: "Confirm with a registered authenticator instead.",
  when: ({ facts, config }) => hasUsableAuthenticator(facts, config),
  to: ["login_authenticator"],
  run: () => go("login_authenticator"),
});

import { action } from "../define.ts";
import { go } from "../outcome.ts";
import { answersRequests, canUseSecurityKeys } from "../second-factor.ts";

/** From one second factor to another that the account has. */

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

/** Published clients know nothing of it, so it is there for those alone whose account answers requests. */
export const continueToLoginAuthenticator = action({
  description: "Confirm with a phone instead.",
  when: ({ facts, config }) => answersRequests(facts, config),
  to: ["login_authenticator"],
  run: () => go("login_authenticator"),
});

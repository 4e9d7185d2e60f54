import { attachment, choice, cookieName, count, flag, seconds, section, userVerification } from "./leaves.ts";

/** Second factors of accounts. */
export const mfa = section({
  enabled: flag(true).describe("Whether accounts have second factors."),
  optional: flag(true).describe("Whether an account may do without one."),
  acquire_on_login: flag(false).describe("Offer to set up a second factor at login."),
  acquire_on_registration: flag(false).describe(
    "Offer to set up a second factor at registration. The account page offers it in any case.",
  ),
  device_trust_policy: choice(["never", "prompt", "always"], "prompt").describe(
    "Whether a browser may be trusted to skip the second factor; prompt asks the user.",
  ),
  device_trust_duration: seconds(30 * 86_400).describe("How long a browser is trusted."),
  device_trust_cookie_name: cookieName("service-device-token").describe(
    "Name of the cookie of a trusted device.",
  ),
  device_trust_max_users_per_device: count(20, 1, 50).describe(
    "Most accounts that one browser is trusted for.",
  ),
  recovery_codes: flag(true).describe(
    "Hand out ten codes that stand in for a lost second factor, when the first one is set up.",
  ),
  totp: section({
    enabled: flag(true).describe("Whether authenticator apps are second factors."),
  }),
  authenticator: section({
    enabled: flag(false).describe(
      "Whether an authenticator is a second factor of the account whose id it is registered for. Clients need to know the state login_authenticator.",
    ),
  }),
  sms: section({
    enabled: flag(false).describe(
      "Whether the telephone number of an account is its second factor, by a code in an SMS. It is asked for only if the account has no other. NIST SP 800-63B-4, 3.1.3.3, restricts it.",
    ),
  }),
  security_keys: section({
    enabled: flag(true).describe("Whether security keys are second factors."),
    limit: count(10, 1, 100).describe("Most security keys of one account."),
    attestation_preference: choice(["none", "indirect", "direct"], "none").describe(
      "Attestation asked of security keys.",
    ),
    authenticator_attachment: attachment("cross-platform").describe(
      "Kind of authenticator that serves as a security key.",
    ),
    user_verification: userVerification("discouraged").describe("User verification asked of security keys."),
  }),
});

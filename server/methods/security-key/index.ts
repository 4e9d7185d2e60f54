import { all, any, not } from "../../conditions/condition.ts";
import { capability, configured, configuredAs, reportsCapabilities } from "../../conditions/leaves.ts";
import { type Method, pendingAs } from "../method.ts";
import { insertCredential, pendingCredential } from "../webauthn-credentials.ts";

/**
 * Security keys (WebAuthn) as second factors. A platform attachment needs a platform authenticator; without one,
 * `platform_authenticator_required` is shown.
 */
export const securityKey = {
  name: "security_key",
  credentials: "security keys",
  tables: ["webauthnCredentials"],
  isSingle: false,
  has: ({ hasSecurityKey }) => hasSecurityKey,
  fact: "hasSecurityKey",
  pending: pendingAs("securityKey", pendingCredential, insertCredential),
  // With passkeys, in one list.
  moving: null,
  removal: null,
  amr: () => "security_key",
  strength: { isMultiFactor: "never", resistsPhishing: true },
  firstFactor: null,
  secondFactor: {
    kind: "own",
    rank: 1,
    state: "login_security_key",
    switch: { action: "continue_to_login_security_key", description: "Use a security key instead." },
    accepted: configured("mfa.security_keys.enabled"),
    usable: any(
      not(reportsCapabilities),
      all(
        capability("webauthn"),
        any(
          capability("platformAuthenticator"),
          not(configuredAs("mfa.security_keys.authenticator_attachment", "platform")),
        ),
      ),
    ),
    enrolment: {
      state: "mfa_security_key_creation",
      action: "continue_to_security_key_creation",
      description: "Set up a security key.",
      audit: "security_key_created",
    },
    notice: "security_key",
    outlastsSettings: true,
  },
} as const satisfies Method;

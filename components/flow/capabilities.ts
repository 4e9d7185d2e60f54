import { mayUse } from "./permissions.ts";

import { can } from "./webauthn-support.ts";

/** What the browser can do, in the names of the protocol. */
export interface ReportedCapabilities {
  webauthn_available: boolean;
  webauthn_conditional_mediation_available: boolean;
  webauthn_platform_authenticator_available: boolean;
}

/**
 * The capabilities of this browser (WebAuthn Level 3, 5.1.6 and 5.1.7). One is absent if its check is missing or throws.
 */
export async function browserCapabilities(): Promise<ReportedCapabilities> {
  const supported = typeof globalThis.PublicKeyCredential === "function";
  const [autofill, platform] = await Promise.all([
    supported &&
      mayUse("publickey-credentials-get") &&
      can(() => PublicKeyCredential.isConditionalMediationAvailable()),
    supported && can(() => PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable()),
  ]);
  return {
    webauthn_available: supported,
    webauthn_conditional_mediation_available: autofill,
    webauthn_platform_authenticator_available: platform,
  };
}

import type { Config } from "../config/schema.ts";
import type { Proof } from "../credentials/passkeys.ts";
import type { FlowData } from "./data.ts";

/**
 * Whether security keys are second factors here, and this client can use the kind that is configured: where that is
 * the device's own authenticator, the device needs one. Otherwise `platform_authenticator_required` says what is
 * missing.
 *
 * @param capabilities what the client said of its browser. A flow that never asks knows nothing of them; then the
 *   browser will tell
 */
export function canUseSecurityKeys(capabilities: FlowData["capabilities"], config: Config): boolean {
  const { enabled, security_keys } = config.mfa;
  if (!enabled || !security_keys.enabled) return false;
  if (!capabilities) return true;
  const needsPlatform = security_keys.authenticator_attachment === "platform";
  return capabilities.webauthn && (capabilities.platformAuthenticator || !needsPlatform);
}

/**
 * What an assertion proves at this point of a flow: who somebody is, or, of somebody who has shown one factor, that
 * they hold another. After a passkey that did not verify its user, holding one of the account's credentials is proved
 * already: this time its user has to be verified (NIST SP 800-63B-4 section 3.1.7).
 */
export function assertionProof({ factors }: Pick<FlowData, "factors">): Proof {
  if (factors.length === 0) return {};
  return { secondFactor: true, verified: factors.every(({ method }) => method === "passkey") };
}

import { action } from "../define.ts";
import { go } from "../outcome.ts";

/** Requests WebAuthn request options to sign in with a passkey. */
export const generateRequestOptions = action({
  description: "Get request options for signing in with a passkey.",
  costs: ["write"],
  when: ({ data, config }) => data.capabilities?.webauthn === true && config.passkey.enabled,
  to: ["login_passkey"],
  run: () => go("login_passkey"),
});

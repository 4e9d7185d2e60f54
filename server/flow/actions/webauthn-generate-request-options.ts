import { all } from "../../conditions/condition.ts";
import { capability, configured } from "../../conditions/leaves.ts";
import { action } from "../define.ts";
import { go } from "../outcome.ts";

/** Whether passkeys are enabled, and the client can use them. */
export const canUsePasskeys = all(configured("passkey.enabled"), capability("webauthn"));

/** Requests WebAuthn request options to sign in with a passkey. */
export const generateRequestOptions = action({
  description: "Get request options for signing in with a passkey.",
  costs: ["write"],
  when: canUsePasskeys,
  to: ["login_passkey"],
  run: () => go("login_passkey"),
});

import { startAuthentication, WebAuthnAbortService } from "@simplewebauthn/browser";
import type { Step } from "./ceremony.ts";
import { publicKeyOf } from "./webauthn-support.ts";

/** Requests an assertion, by a prompt or in the autofill of a field. */
export async function assert(options: unknown, useBrowserAutofill: boolean): Promise<Step> {
  const assertion = await startAuthentication({ optionsJSON: publicKeyOf(options), useBrowserAutofill });
  return { action: "webauthn_verify_assertion_response", input: { assertion_response: assertion } };
}

/** Aborts the request in progress, of an assertion or of a creation. */
export function abortPrompt(): void {
  WebAuthnAbortService.cancelCeremony();
}

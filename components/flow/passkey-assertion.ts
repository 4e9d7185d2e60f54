import { startAuthentication, WebAuthnAbortService, WebAuthnError } from "@simplewebauthn/browser";
import type { Step } from "./ceremony.ts";
import { publicKeyOf } from "./webauthn-support.ts";

/**
 * Requests an assertion, by a prompt or in the autofill of a field.
 *
 * @param signal aborted by what aborts the prompt
 */
export async function assert(
  options: unknown,
  useBrowserAutofill: boolean,
  signal: AbortSignal,
): Promise<Step> {
  const request = () => startAuthentication({ optionsJSON: publicKeyOf(options), useBrowserAutofill });
  const assertion = await request().catch((error: unknown) => {
    const isAborted = error instanceof WebAuthnError && error.code === "ERROR_CEREMONY_ABORTED";
    // Autofill that was opening when the user asked for a prompt has ended the prompt. It is open now, so it ends.
    if (useBrowserAutofill || signal.aborted || !isAborted) throw error;
    return request();
  });
  return { action: "webauthn_verify_assertion_response", input: { assertion_response: assertion } };
}

/** Aborts the request in progress, of an assertion or of a creation. */
export function abortPrompt(): void {
  WebAuthnAbortService.cancelCeremony();
}

import {
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
} from "@simplewebauthn/browser";
import type { Step } from "./ceremony.ts";
import { ceremonyErrorOf } from "./ceremony-error.ts";
import { can, publicKeyOf } from "./webauthn-support.ts";

/**
 * Requests an assertion, by a prompt or in the autofill of a field.
 *
 * @param signal ends the request
 */
export async function assert(
  options: unknown,
  useBrowserAutofill: boolean,
  signal: AbortSignal,
): Promise<Step> {
  endWith(signal);
  if (useBrowserAutofill) endOpeningWith(signal);
  const request = () => startAuthentication({ optionsJSON: publicKeyOf(options), useBrowserAutofill });
  const assertion = await request().catch((error: unknown) => {
    // Autofill that was opening when the user asked for a prompt has ended the prompt. It is open now, so it ends.
    if (useBrowserAutofill || signal.aborted || ceremonyErrorOf(error) !== null) throw error;
    endWith(signal);
    return request();
  });
  return { action: "webauthn_verify_assertion_response", input: { assertion_response: assertion } };
}

/** The signal of the newest request, because the browser has one at a time; null once that was aborted. */
let newest: AbortSignal | null = null;

/** Lets a signal end the request that begins now, and none that another ceremony begins later. */
export function endWith(signal: AbortSignal): void {
  newest = signal;
  signal.addEventListener("abort", () => {
    if (newest !== null && newest !== signal) return;
    newest = null;
    abortPrompt();
  });
}

/** Lets a signal also end autofill that is still opening: it has no request yet that could be aborted, and opens all the same. */
function endOpeningWith(signal: AbortSignal): void {
  signal.addEventListener("abort", async () => {
    // It opens when the same question, which was asked before, is answered.
    await can(browserSupportsWebAuthnAutofill);
    // A request that has begun since then has ended it.
    if (newest === null) abortPrompt();
  });
}

/** Aborts the request in progress, of an assertion or of a creation. */
export function abortPrompt(): void {
  WebAuthnAbortService.cancelCeremony();
}

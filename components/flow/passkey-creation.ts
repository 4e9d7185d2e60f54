import { getBrowserCapabilities, startRegistration } from "@simplewebauthn/browser";
import type { Attempts, Step } from "./ceremony.ts";
import { abortPrompt, endWith } from "./passkey-assertion.ts";
import { mayUse } from "./permissions.ts";
import { can, publicKeyOf } from "./webauthn-support.ts";

export { abortPrompt };

/**
 * Creates a passkey or a security key.
 *
 * @param signal ends the request
 */
export async function create(options: unknown, signal: AbortSignal, useAutoRegister = false): Promise<Step> {
  endWith(signal);
  const credential = await startRegistration({ optionsJSON: publicKeyOf(options), useAutoRegister });
  return { action: "webauthn_verify_attestation_response", input: { public_key: credential } };
}

/** Browsers either create a passkey silently at once or not at all. */
const SILENT_CREATION_TIMEOUT_MS = 5000;

/**
 * Creates a passkey without a prompt (WebAuthn Level 3, 5.1.3, conditional mediation); goes back without a notice
 * on failure.
 */
export async function createSilently(
  options: unknown,
  attempts: Attempts,
  signal: AbortSignal,
): Promise<Step> {
  const timer = setTimeout(abortPrompt, SILENT_CREATION_TIMEOUT_MS);
  try {
    return await create(options, signal, true);
  } catch {
    return { action: "back", input: {} };
  } finally {
    clearTimeout(timer);
    attempts.silent = false;
  }
}

/** Whether the browser creates passkeys without a prompt. */
export async function canCreateSilently(): Promise<boolean> {
  if (!mayUse("publickey-credentials-create")) return false;
  return can(async () => (await getBrowserCapabilities()).conditionalCreate === "supported");
}

/** The error code of a failed ceremony by the name of its `DOMException` (WebAuthn Level 3, 5.1.3 and 5.1.4); null if the page aborted it. */
export function ceremonyErrorOf(error: unknown): string | null {
  if (!(error instanceof Error)) return "passkey_failed";
  if (error.name === "AbortError") return null;
  if (error.name === "InvalidStateError") return "webauthn_credential_already_exists";
  // Browsers also give this error on a timeout or without a matching credential.
  return error.name === "NotAllowedError" ? "passkey_cancelled" : "passkey_failed";
}

/** What a person brought back from an identity provider, in the address of the page. */
export type ProviderReturn = { token: string } | { error: string };

/**
 * Reads an arrival out of the page's address.
 *
 * @param query its parameters; `hanko_token` and `error` are the names that clients of the protocol read
 * @returns null when nobody has come from anywhere
 */
export function readProviderReturn(query: URLSearchParams): ProviderReturn | null {
  const token = query.get("hanko_token");
  if (token) return { token };
  const error = query.get("error");
  return error
    ? { error: (Object.hasOwn(codes, error) ? codes[error] : undefined) ?? "third_party_failed" }
    : null;
}

/** Whether this arrival was sent by a provider of its own accord, so that no flow of ours waits for it. */
export function isIdpInitiated(query: URLSearchParams): boolean {
  return query.get("saml_hint") === "idp_initiated";
}

/** The error codes that there are words for (RFC 6749, 4.1.2.1, and `flow-reference` 11.2). */
const codes: Partial<Record<string, string>> = {
  access_denied: "third_party_access_denied",
  third_party_access_denied: "third_party_access_denied",
  user_conflict: "user_conflict",
  signup_disabled: "signup_disabled",
  multiple_accounts: "multiple_accounts",
  unverified_email: "unverified_email",
  email_maxnum: "email_maxnum",
  identity_already_linked: "identity_already_linked",
  rate_limit_exceeded: "rate_limit_exceeded",
};

/** Takes out of the browser's address, and its history, what is good for one use or for nobody else's eyes. */
export function tidyAddress(): void {
  const url = new URL(location.href);
  const brought = ["hanko_token", "error", "error_description", "saml_hint"];
  if (!brought.some((name) => url.searchParams.has(name))) return;
  for (const name of brought) url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

/** The result of an identity provider, from the query of the page. */
export type ProviderReturn = { token: string } | { error: string };

/**
 * Reads the result of an identity provider.
 *
 * @param query of the page's address; `hanko_token` and `error` are the names that clients of the protocol read
 * @returns null if the query holds no result
 */
export function readProviderReturn(query: URLSearchParams): ProviderReturn | null {
  const token = query.get("hanko_token");
  if (token) return { token };
  const error = query.get("error");
  return error
    ? { error: (Object.hasOwn(codes, error) ? codes[error] : undefined) ?? "third_party_failed" }
    : null;
}

/** Whether the provider initiated the sign-in (SAML, IdP-initiated), so that no flow is waiting for it. */
export function isIdpInitiated(query: URLSearchParams): boolean {
  return query.get("saml_hint") === "idp_initiated";
}

/** Error codes of a return (RFC 6749, 4.1.2.1, and this service's own) → codes with words. */
const codes: Partial<Record<string, string>> = {
  access_denied: "third_party_access_denied",
  third_party_access_denied: "third_party_access_denied",
  user_conflict: "user_conflict",
  account_blocked: "account_blocked",
  signup_disabled: "signup_disabled",
  multiple_accounts: "multiple_accounts",
  unverified_email: "unverified_email",
  email_maxnum: "email_maxnum",
  identity_already_linked: "identity_already_linked",
  identity_not_linked: "identity_not_linked",
  rate_limit_exceeded: "rate_limit_exceeded",
};

/** Removes the provider's result from the browser's address and history: it is secret or valid only once. */
export function removeReturnParameters(): void {
  const url = new URL(location.href);
  const parameters = ["hanko_token", "error", "error_description", "saml_hint"];
  if (!parameters.some((name) => url.searchParams.has(name))) return;
  for (const name of parameters) url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

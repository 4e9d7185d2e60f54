import type { Config } from "../config/schema.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../redirects/redirect-target.ts";

/** Where a sign-in at a provider may return to, beside the pages of this service. */
export interface ReturnUrls {
  /** Entries of `third_party.allowed_redirect_urls` or `saml.allowed_redirect_urls`. */
  listed: readonly string[];
  /** Further URLs, serialized as in the URL standard. */
  further: readonly string[];
}

/**
 * Parses the return URL of a sign-in at a provider: a page of this service, or an allowed URL.
 *
 * @param text as requested by the client
 * @returns null if it is not a URL or not allowed
 */
export function parseReturnUrl(text: string, config: Config, { listed, further }: ReturnUrls): URL | null {
  const target = parseRedirectTarget(text);
  if (target === null) return null;
  const isAllowed =
    isOwnPage(target, config) || further.includes(target.href) || isAllowedRedirect(target, listed);
  return isAllowed ? target : null;
}

/** Returns the allowed return URLs for OAuth 2 and OpenID Connect. */
export function allowedReturnUrls({ third_party }: Config): ReturnUrls {
  const { allowed_redirect_urls, error_redirect_url } = third_party;
  return {
    listed: allowed_redirect_urls,
    further: error_redirect_url ? [new URL(error_redirect_url).href] : [],
  };
}

/** Whether a URL is below `base_url`. */
export function isOwnPage(target: URL, config: Config): boolean {
  const base = new URL(config.base_url);
  const under = base.pathname.endsWith("/") ? base.pathname : `${base.pathname}/`;
  return (
    target.origin === base.origin && (target.pathname === base.pathname || target.pathname.startsWith(under))
  );
}

/** Returns the page of this service, the fallback of every return URL. */
export function basePageUrl(config: Config): URL {
  return new URL(config.base_url);
}

/** Returns the URL with an exchange token, without the parameters of an earlier return. */
export function withToken(target: URL, token: string, more: Record<string, string> = {}): string {
  return withParameters(target, { hanko_token: token, ...more });
}

/**
 * Returns the URL with an error, by the parameters of RFC 6749, 4.1.2.1.
 *
 * @param code one of the known errors, or the provider's code
 */
export function withError(target: URL, code: string, description: string): string {
  return withParameters(target, { error: code, error_description: description });
}

const returnParameters = ["hanko_token", "saml_hint", "error", "error_description"];

function withParameters(target: URL, parameters: Record<string, string>): string {
  const url = new URL(target);
  for (const name of returnParameters) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

import type { Config } from "../config/schema.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../redirects/redirect-target.ts";

/**
 * Reads where a person wants to come back to from an identity provider: a page of our own, or an address on a list.
 *
 * @param text what the client asks for
 * @param allowed `third_party.allowed_redirect_urls`, or `saml.allowed_redirect_urls`
 * @returns null for what is no address, or none that people may be sent to
 */
export function parseReturnUrl(text: string, config: Config, allowed: readonly string[]): URL | null {
  const target = parseRedirectTarget(text);
  if (target === null) return null;
  return isOwnPage(target, config) || isAllowedRedirect(target, allowed) ? target : null;
}

/** Where people may come back to from providers of OAuth 2 and OpenID Connect, beside our own pages. */
export function allowedReturnUrls({ third_party }: Config): string[] {
  const { allowed_redirect_urls, error_redirect_url } = third_party;
  return [...allowed_redirect_urls, ...(error_redirect_url ? [error_redirect_url] : [])];
}

/** Whether an address lies under our own base address. */
export function isOwnPage(target: URL, config: Config): boolean {
  const base = new URL(config.base_url);
  const under = base.pathname.endsWith("/") ? base.pathname : `${base.pathname}/`;
  return (
    target.origin === base.origin && (target.pathname === base.pathname || target.pathname.startsWith(under))
  );
}

/** Our own page, where people end up who cannot be sent anywhere else. */
export function basePageUrl(config: Config): URL {
  return new URL(config.base_url);
}

/** The address with a token that the flow exchanges; whatever it said before of such a journey is left out. */
export function withToken(target: URL, token: string, more: Record<string, string> = {}): string {
  return withParameters(target, { hanko_token: token, ...more });
}

/**
 * The address with what went wrong, by the names of RFC 6749, 4.1.2.1.
 *
 * @param code one of the closed list of errors, or what the provider named
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

import type { Config } from "../../config/schema.ts";
import { isConsoleEntry } from "../../console/place.ts";
import { codeChallengePattern } from "../../lib/pkce.ts";
import { type ContextClass, knownClasses } from "../../openid/authentication-context.ts";
import { isResumePath, openidPaths } from "../../openid/paths.ts";
import { isAllowedRedirect, parseRedirectTarget } from "../../redirects/redirect-target.ts";
import { pathPrefix, withinTenant } from "../request/tenant-path.ts";

/** The application that the hosted page sends a signed-in user to. */
export interface Destination {
  /** Address, serialized as in the URL standard. */
  to: string;
  /** S256 challenge (RFC 7636, 4.2) that the authorization code is bound to. */
  codeChallenge?: string;
  /** Returned unchanged. */
  state?: string;
  /** The identifier that the user will probably enter, as the application knows it (OpenID Connect Core, 3.1.2.1). */
  loginHint?: string;
  /** The classes of authentication that the application asks for, one of which suffices. */
  classes?: readonly ContextClass[];
  /** The application asks for an account of the browser: the authorization request that waits for the choice. */
  choosing?: string;
  /** Until when these hold, in milliseconds since 1970. */
  askedUntil?: number;
}

/** A sign-in that is begun later may be that of another user of the browser. */
const ASKED_MS = 10 * 60_000;

/** Sets until when what an application asks of the sign-in holds. */
export const askedAt = (destination: Destination, now: number): Destination =>
  Object.keys(askedNow(destination, now)).length === 0
    ? destination
    : { ...destination, askedUntil: now + ASKED_MS };

/** What an application asks of a sign-in that begins now. */
export function askedNow(
  destination: Destination | null,
  now: number,
): Pick<Destination, "loginHint" | "classes" | "choosing"> {
  const { loginHint, classes, choosing, askedUntil = Number.POSITIVE_INFINITY } = destination ?? {};
  if (now > askedUntil) return {};
  return {
    ...(loginHint === undefined ? {} : { loginHint }),
    ...(classes ? { classes } : {}),
    ...(choosing === undefined ? {} : { choosing }),
  };
}

export type ParsedDestination = { ok: true; destination: Destination } | { ok: false; message: string };

/**
 * Reads `redirect_to`, `code_challenge`, `code_challenge_method`, `state`, `login_hint`, `acr_values` and `prompt` from the query of the hosted page.
 *
 * @param query must have `redirect_to`
 */
export function parseDestination(query: URLSearchParams, config: Config): ParsedDestination {
  const reject = (message: string): ParsedDestination => ({ ok: false, message });
  const names = [
    "redirect_to",
    "code_challenge",
    "code_challenge_method",
    "state",
    "login_hint",
    "acr_values",
    "prompt",
  ];
  if (names.some((name) => query.getAll(name).length > 1)) return reject("A parameter occurs twice.");

  const target = parseRedirectTarget(query.get("redirect_to") ?? "");
  if (target === null || !mayReturnTo(target, config)) {
    return reject("`redirect_to` is not an allowed address (hosted.allowed_redirect_urls).");
  }
  const codeChallenge = query.get("code_challenge");
  if (codeChallenge !== null && !codeChallengePattern.test(codeChallenge))
    return reject("`code_challenge` is not an S256 challenge.");
  if ((query.get("code_challenge_method") ?? "S256") !== "S256")
    return reject("`code_challenge_method` must be S256.");
  if (codeChallenge === null && !sharesSessionCookie(target, config)) {
    return reject("`code_challenge` is required: this application does not receive the session cookie.");
  }
  const state = query.get("state");
  if (state !== null && state.length > 512) return reject("`state` must not be longer than 512 characters.");
  const loginHint = query.get("login_hint");
  if (loginHint !== null && loginHint.length > 254)
    return reject("`login_hint` must not be longer than 254 characters.");
  const classes = knownClasses((query.get("acr_values") ?? "").split(" "));
  const choosing = query.get("prompt") === "select_account" ? waitingRequest(target, config) : null;
  return {
    ok: true,
    destination: {
      to: target.href,
      ...(loginHint === null ? {} : { loginHint }),
      ...(classes.length > 0 ? { classes } : {}),
      ...(choosing === null ? {} : { choosing }),
      ...(codeChallenge === null ? {} : { codeChallenge }),
      ...(state === null ? {} : { state }),
    },
  };
}

/**
 * Whether the hosted page may redirect to an address: one that the configuration allows, our own account page, that of an
 * authorization request which waits for its user, that of the codes of devices, or that of the console.
 */
export function mayReturnTo(target: URL, config: Config): boolean {
  const account = new URL(withinTenant(config, "/account"), config.base_url);
  return (
    target.href === account.href ||
    isConsoleEntry(target, config) ||
    isOfProvider(target, config) ||
    isAllowedRedirect(target, config.hosted.allowed_redirect_urls)
  );
}

/** Whether an address is that of an authorization request which waits for its user, or that of the codes of devices. */
export function isOfProvider(target: URL, config: Config): boolean {
  const path = pathOfProvider(target, config);
  if (path === null) return false;
  return isResumePath(path) || (config.openid.device_flow && path === openidPaths.code_verification);
}

/** The path of an address of the tenant's provider; null if it is none. */
function pathOfProvider(target: URL, config: Config): string | null {
  const { origin } = new URL(config.base_url);
  const prefix = pathPrefix(config);
  const isOwn = target.origin === origin && target.pathname.startsWith(prefix) && target.search === "";
  return config.openid.enabled && isOwn ? target.pathname.slice(prefix.length) : null;
}

/** The authorization request to which an address returns; null if it is another address. */
function waitingRequest(target: URL, config: Config): string | null {
  const path = pathOfProvider(target, config);
  return path !== null && isResumePath(path) ? path.slice(openidPaths.authorization.length + 1) : null;
}

/** Whether browsers send the session cookie to that address too (RFC 6265bis, 5.1.3 and 5.1.4; ports do not matter). */
export function sharesSessionCookie(target: URL, config: Config): boolean {
  const own = new URL(config.base_url);
  if (config.session.enable_auth_token_header) return false;
  if (own.protocol === "https:" && target.protocol !== "https:") return false;
  const prefix = pathPrefix(config);
  if (target.pathname !== prefix && !target.pathname.startsWith(`${prefix}/`)) return false;
  const domain = config.session.cookie.domain.replace(/^\./, "").toLowerCase();
  if (domain === "") return target.hostname === own.hostname;
  return target.hostname === domain || target.hostname.endsWith(`.${domain}`);
}

/**
 * Returns the address that the browser is redirected to.
 *
 * @param code the authorization code, if the application redeems one
 */
export function destinationUrl({ to, state }: Destination, code: string | null): string {
  const url = new URL(to);
  if (code !== null) url.searchParams.set("code", code);
  if (state !== undefined) url.searchParams.set("state", state);
  return url.href;
}

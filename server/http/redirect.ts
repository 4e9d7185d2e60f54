import type { Config } from "../config.ts";
import { matchesPattern } from "./address-pattern.ts";

/** Where the hosted page sends a person who has signed in, as the application asked for it. */
export interface Destination {
  /** In the normal form of the URL standard. */
  to: string;
  /** S256 challenge (RFC 7636, 4.2) that a one-time code is bound to. */
  codeChallenge?: string;
  /** Handed back as it came. */
  state?: string;
}

export type AskedDestination = { ok: true; destination: Destination } | { ok: false; message: string };

const LONGEST = 2048;
const challenge = /^[A-Za-z0-9_-]{43}$/;

/**
 * Reads `redirect_to`, `code_challenge`, `code_challenge_method` and `state` from the query of the hosted page.
 *
 * @param query must have `redirect_to`
 */
export function parseDestination(query: URLSearchParams, config: Config): AskedDestination {
  const refuse = (message: string): AskedDestination => ({ ok: false, message });
  const names = ["redirect_to", "code_challenge", "code_challenge_method", "state"];
  if (names.some((name) => query.getAll(name).length > 1)) return refuse("A parameter was given twice.");

  const target = parseTarget(query.get("redirect_to") ?? "");
  if (target === null || !isAllowedRedirect(target, config.hosted.allowed_redirect_urls)) {
    return refuse("redirect_to is not an allowed address (hosted.allowed_redirect_urls).");
  }
  const codeChallenge = query.get("code_challenge");
  if (codeChallenge !== null && !challenge.test(codeChallenge))
    return refuse("code_challenge is not an S256 challenge.");
  if ((query.get("code_challenge_method") ?? "S256") !== "S256")
    return refuse("code_challenge_method must be S256.");
  if (codeChallenge === null && !sharesSessionCookie(target, config)) {
    return refuse("code_challenge is missing: this application cannot see the session cookie.");
  }
  const state = query.get("state");
  if (state !== null && state.length > 512) return refuse("state is longer than 512 characters.");
  return {
    ok: true,
    destination: {
      to: target.href,
      ...(codeChallenge === null ? {} : { codeChallenge }),
      ...(state === null ? {} : { state }),
    },
  };
}

/** An absolute http(s) address that means the same to every reader: no user, no fragment, nothing a parser drops. */
function parseTarget(text: string): URL | null {
  if (text.length > LONGEST || /[\s\\#]/.test(text) || hasControls(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  return url.username === "" && url.password === "" ? url : null;
}

function hasControls(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

/**
 * Whether an address is on the list. An entry without `*` is compared whole. In one with `*`, it stands for a part
 * of a host's label or of a path's segment, and `**` for any number of labels or segments; a query has to be in the
 * entry too.
 */
export function isAllowedRedirect(target: URL, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (!entry.includes("*")) return URL.canParse(entry) && new URL(entry).href === target.href;
    // A pattern matches what it says, not what a proxy might make of an encoded slash.
    if (/%2f|%5c/i.test(target.pathname)) return false;
    return matchesPattern(entry, target);
  });
}

/** Whether browsers send our session cookie to that address too (RFC 6265bis, 5.1.3; ports do not matter). */
export function sharesSessionCookie(target: URL, config: Config): boolean {
  const own = new URL(config.base_url);
  if (config.session.enable_auth_token_header) return false;
  if (own.protocol === "https:" && target.protocol !== "https:") return false;
  const domain = config.session.cookie.domain.replace(/^\./, "").toLowerCase();
  if (domain === "") return target.hostname === own.hostname;
  return target.hostname === domain || target.hostname.endsWith(`.${domain}`);
}

/**
 * The address a person is sent to.
 *
 * @param code the one-time code, where the application redeems one
 */
export function destinationUrl({ to, state }: Destination, code: string | null): string {
  const url = new URL(to);
  if (code !== null) url.searchParams.set("code", code);
  if (state !== undefined) url.searchParams.set("state", state);
  return url.href;
}

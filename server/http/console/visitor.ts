import type { Config } from "../../config/schema.ts";
import { type ConsoleVisitor, findConsoleVisitor } from "../../console/console-sessions.ts";
import type { Runtime } from "../../runtime.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";

/** The cookie of a session of the console. */

/** `__Host-` prevents sibling hosts from planting a session (RFC 6265bis, 4.1.3.2). */
const cookieName = (config: Config) => `${isSecure(config) ? "__Host-" : ""}stile-console`;

/**
 * @param value the token; empty removes the cookie
 * @param maxAge in seconds
 * @returns a `Set-Cookie` value. No other site can make a browser send it: `SameSite=Strict`
 */
export function consoleCookie(config: Config, value: string, maxAge: number): string {
  return formatCookie(config, cookieName(config), value, {
    maxAge,
    sameSite: "strict",
    secure: isSecure(config),
    path: "/",
  });
}

/** The tokens that a `Cookie` header names, of which a planted one may be the first. */
export const consoleTokens = (config: Config, cookies: string | null): string[] =>
  cookieValues(cookies, cookieName(config)).slice(0, MAX_TOKENS);

const MAX_TOKENS = 4;

/** The account that a request is signed in to the console with; null without one. */
export async function presentedVisitor(
  runtime: Runtime,
  cookies: string | null,
): Promise<ConsoleVisitor | null> {
  for (const token of consoleTokens(runtime.config, cookies)) {
    const visitor = await findConsoleVisitor(runtime, token);
    if (visitor) return visitor;
  }
  return null;
}

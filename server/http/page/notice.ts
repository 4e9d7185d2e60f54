import type { Config } from "../../config/schema.ts";
import { type ErrorCode, errors } from "../../flow/errors.ts";
import { cookieValues, isSecure, setCookie } from "../cookies.ts";

/**
 * A refusal that belongs to no flow, carried over the redirect after a form was posted, to the page that tells it.
 * It holds a code out of a closed list, so nothing is gained by planting one.
 */
const NAME = "stile-notice";

/** Long enough for the redirect that follows. */
const SECONDS = 10;

/**
 * @param code of the refusal
 * @returns a `Set-Cookie` value
 */
export function noticeCookie(code: string, config: Config): string {
  return setCookie(config, NAME, code, { maxAge: SECONDS, sameSite: "lax", secure: isSecure(config) });
}

/** @param cookies the `Cookie` header */
export function readNotice(cookies: string | null): ErrorCode | null {
  const [code] = cookieValues(cookies, NAME);
  return code !== undefined && Object.hasOwn(errors, code) ? (code as ErrorCode) : null;
}

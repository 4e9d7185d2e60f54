import type { Config } from "../../config/schema.ts";
import { type ErrorCode, errors } from "../../flow/errors.ts";
import { cookieValues, formatCookie, isSecure } from "../cookies.ts";

/**
 * A cookie that carries an error that belongs to no flow over the redirect after a form was posted. It contains a code
 * from a closed list, so planting one gains nothing.
 */
const NOTICE_COOKIE = "stile-notice";

/** Long enough for the redirect. */
const NOTICE_SECONDS = 10;

/**
 * @param code of the error
 * @returns a `Set-Cookie` value
 */
export function noticeCookie(code: string, config: Config): string {
  return formatCookie(config, NOTICE_COOKIE, code, {
    maxAge: NOTICE_SECONDS,
    sameSite: "lax",
    secure: isSecure(config),
  });
}

/** @param cookies the `Cookie` header */
export function readNotice(cookies: string | null): ErrorCode | null {
  const [code] = cookieValues(cookies, NOTICE_COOKIE);
  return code !== undefined && Object.hasOwn(errors, code) ? (code as ErrorCode) : null;
}

import type { Config } from "../../config/schema.ts";
import { isSecure } from "../request/cookies.ts";

/** Responses of the API are not documents: opened in a browser, they can load, run and frame nothing. */
const always = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
};

const overTls = { ...always, "Strict-Transport-Security": "max-age=31536000; includeSubDomains" };

/** The headers of every response of the API (OWASP ASVS 5.0, 3.4). */
export function securityHeaders(config: Config): Record<string, string> {
  return isSecure(config) ? overTls : always;
}

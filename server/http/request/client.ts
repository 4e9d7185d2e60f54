import type { Tenant } from "../../config/tenant.ts";
import type { Client } from "../../context/client.ts";
import type { ApiRequest } from "./api-request.ts";
import { sourceOf } from "./client-address.ts";
import { cookieValues, markIn, THIRD_PARTY_STATE_COOKIE } from "./cookies.ts";
import { acceptedLanguage, languageInCookie, requestedLanguage } from "./language.ts";

/**
 * Describes the client of a request.
 *
 * @param connection `address`: of the client, as `clientAddress` returns it
 * @param isForPages whether a form may send the request, which cannot set headers
 */
export function clientOf(
  { headers }: Pick<ApiRequest, "headers">,
  { address: ip, requestId }: { address: string; requestId: string },
  isForPages: boolean,
  tenant: Tenant,
): Client {
  const { mfa } = tenant.config;
  const cookies = headers.get("cookie");
  const requested = headers.get("x-language");
  // A form cannot send the header, so the language chosen on the page counts, or the browser's setting.
  const language =
    requested === null && isForPages
      ? acceptedLanguage(languageInCookie(cookies) ?? headers.get("accept-language"))
      : requestedLanguage(requested);
  return {
    ip,
    source: sourceOf(ip),
    userAgent: (headers.get("user-agent") ?? "").slice(0, 512),
    language,
    requestId,
    origin: headers.get("origin"),
    thirdPartyStates: cookieValues(cookies, THIRD_PARTY_STATE_COOKIE),
    deviceCookie: cookieValues(cookies, mfa.device_trust_cookie_name).join("|") || null,
    markCookie: markIn(cookies, tenant),
    embedding: isForPages ? "page" : "client",
  };
}

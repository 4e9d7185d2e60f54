import { type NextRequest, NextResponse } from "next/server";
import { heldRuntime } from "#server/runtime-slot";
import { isMissingPage } from "./app/missing-page.ts";
import { LANGUAGE, languageWish } from "./app/page-language.ts";

/**
 * Runs before every page: gives it the headers that only a page needs, and passes on the language that was asked
 * for. It lets everything through; who may do what is decided where it is done.
 */
export async function proxy(request: NextRequest): Promise<NextResponse> {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64");
  const policy = contentSecurityPolicy(nonce);
  const wish = languageWish(request.nextUrl.searchParams);

  const forwarded = new Headers(request.headers);
  // Next gives its own scripts the nonce that it finds here.
  forwarded.set("Content-Security-Policy", policy);
  if (wish === null) forwarded.delete(LANGUAGE);
  else forwarded.set(LANGUAGE, wish);

  const onward = { request: { headers: forwarded } };
  const { pathname } = request.nextUrl;
  // Next's own page for errors has an address, where it may be kept by caches; to us it is a page that is not there.
  const missing =
    pathname === "/_global-error" || (await isMissingPage(request.headers.get("host"), pathname));
  const response = missing
    ? NextResponse.rewrite(new URL("/_not-found", request.url), onward)
    : NextResponse.next(onward);
  response.headers.set("Content-Security-Policy", policy);
  for (const [name, value] of Object.entries(pageHeaders)) response.headers.set(name, value);
  const overTls = heldRuntime()?.config.base_url.startsWith("https:") ?? false;
  if (overTls) response.headers.set("Strict-Transport-Security", "max-age=31536000; includeSubDomains");
  if (wish !== null) {
    const aYear = 365 * 24 * 3600;
    response.cookies.set(LANGUAGE, wish, {
      path: "/",
      sameSite: "lax",
      httpOnly: true,
      secure: overTls,
      maxAge: aYear,
    });
  }
  return response;
}

/**
 * Only scripts that carry the nonce run, and what they load (CSP Level 3, 8.2). Nothing comes from elsewhere, nobody
 * may frame the page, and script text is never made from strings (Trusted Types).
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

const off = [
  "accelerometer",
  "autoplay",
  "browsing-topics",
  "camera",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "hid",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
];

const pageHeaders: Record<string, string> = {
  "Permissions-Policy": [
    "publickey-credentials-get=(self)",
    "publickey-credentials-create=(self)",
    ...off.map((feature) => `${feature}=()`),
  ].join(", "),
  // With none at all, a form would come from `Origin: null`, and nothing else tells over plain http that it is ours.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
  "Cross-Origin-Resource-Policy": "same-origin",
};

// The API's own addresses carry headers of their own; a test compares this with their list.
export const config = {
  matcher:
    "/((?!_next/static/|(?:t/[^/]+/)?(?:api|login|registration|profile|token_exchange|thirdparty|saml|me|users|logout|sessions|\\.well-known|token|step|passkeys|authenticator|health|dev)(?:/|$)).*)",
};

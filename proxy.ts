import { type NextRequest, NextResponse } from "next/server";
import { isCodesCookie } from "#server/http/page/codes-cookie";
import { parseFrame } from "#server/http/page/frame";
import { pageTenant } from "#server/http/page/page-tenant";
import { heldRuntime } from "#server/runtime-slot";
import { missingPage, UNKNOWN_CONFIRMATION } from "./app/missing-page.ts";
import { LANGUAGE, requestedLanguage } from "./app/page-language.ts";
import { rejectedRequest } from "./app/rejected-request.ts";

/** A year. */
const LANGUAGE_COOKIE_SECONDS = 365 * 24 * 3600;

/**
 * Runs before every page: sets the headers that only pages need, and passes on the requested language. Handlers and
 * pages check access themselves.
 */
export async function proxy(request: NextRequest): Promise<Response> {
  const runtime = heldRuntime();
  const underNextAlone = runtime && !runtime.closing;
  const rejected = underNextAlone ? await rejectedRequest(runtime, request) : null;
  if (rejected) return rejected;

  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64");
  const embedding = await embeddingOf(request);
  const policy = contentSecurityPolicy(nonce, embedding);
  const language = requestedLanguage(request.nextUrl.searchParams);

  const forwarded = new Headers(request.headers);
  // Next reads the nonce for its own scripts from this header.
  forwarded.set("Content-Security-Policy", policy);
  if (language === null) forwarded.delete(LANGUAGE);
  else forwarded.set(LANGUAGE, language);

  const { pathname } = request.nextUrl;
  // Next's error page has a public address, whose response could be cached. It is treated as not found.
  const missing =
    pathname === "/_global-error"
      ? "address"
      : await missingPage(request.headers.get("host"), request.nextUrl);
  if (missing === "confirmation") forwarded.set(UNKNOWN_CONFIRMATION, pathname);
  else forwarded.delete(UNKNOWN_CONFIRMATION);

  const onward = { request: { headers: forwarded } };
  const response = missing
    ? NextResponse.rewrite(new URL("/_not-found", request.url), onward)
    : NextResponse.next(onward);
  response.headers.set("Content-Security-Policy", policy);
  for (const [name, value] of Object.entries(pageHeaders(embedding))) response.headers.set(name, value);
  const overTls = runtime?.config.base_url.startsWith("https:") ?? false;
  if (overTls) response.headers.set("Strict-Transport-Security", "max-age=31536000; includeSubDomains");
  if (language !== null) {
    response.cookies.set(LANGUAGE, language, {
      path: "/",
      sameSite: "lax",
      httpOnly: true,
      secure: overTls,
      maxAge: LANGUAGE_COOKIE_SECONDS,
    });
  }
  // This request displays the codes, and only its response can remove them, since pages set no cookies. Next would
  // apply changes of `response.cookies` to the cookies that the page sees.
  for (const { name } of request.cookies.getAll().filter(({ name }) => isCodesCookie(name))) {
    const secure = name.startsWith("__Host-") ? "; Secure" : "";
    response.headers.append("Set-Cookie", `${name}=; Path=/; Max-Age=0; HttpOnly${secure}; SameSite=Lax`);
  }
  return response;
}

/**
 * Only scripts with the nonce run, and the scripts that they load (CSP Level 3, 8.2). Other origins are blocked, the page
 * cannot be framed but by a page on the list, and strings never become script text (Trusted Types): the one policy passes
 * addresses of our own lazy scripts (`components/ui/script-policy.ts`).
 */
function contentSecurityPolicy(nonce: string, { ancestor }: Embedding): string {
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
    // A form of a frame that is sent before its script arrives would lead to a page that cannot be framed.
    `form-action ${ancestor === null ? "'self'" : "'none'"}`,
    `frame-ancestors ${ancestor ?? "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types default",
  ].join("; ");
}

const disabledFeatures = [
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

const pageHeaders = ({ ancestor, keepsOpener }: Embedding): Record<string, string> => ({
  "Permissions-Policy": [
    ...["publickey-credentials-get", "publickey-credentials-create"].map(
      (feature) => `${feature}=(self${ancestor === null ? "" : ` "${ancestor}"`})`,
    ),
    ...disabledFeatures.map((feature) => `${feature}=()`),
  ].join(", "),
  // With `no-referrer`, a form would send `Origin: null`, and over plain http nothing else shows that it is same-origin.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  ...(ancestor === null ? { "X-Frame-Options": "DENY" } : {}),
  "Cross-Origin-Opener-Policy": keepsOpener ? "unsafe-none" : "same-origin-allow-popups",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** How a page stands to pages of other origins. */
interface Embedding {
  /** The origin of the page that may hold it in a frame; null for none. */
  ancestor: string | null;
  /** Whether it speaks to the frame that opened it, in a page whose opener policy differs. */
  keepsOpener: boolean;
}

const embedPath = /^(?:\/t\/([^/]+))?\/embed$/;

/** Only the page of a frame may be framed, by the page of a listed origin that its address names. */
async function embeddingOf(request: NextRequest): Promise<Embedding> {
  const { pathname, searchParams } = request.nextUrl;
  const [path, id = null] = embedPath.exec(pathname) ?? [];
  const runtime = heldRuntime();
  if (path === undefined || !runtime) return { ancestor: null, keepsOpener: false };
  if (searchParams.has("window")) return { ancestor: null, keepsOpener: true };
  const tenant = await pageTenant(runtime, request.headers.get("host"), id).catch(() => null);
  const parsed = tenant && parseFrame(searchParams, tenant.config);
  return { ancestor: parsed?.ok ? parsed.frame.origin : null, keepsOpener: false };
}

// Addresses of the API have headers of their own; a test compares this with their table.
export const config = {
  matcher:
    "/((?!_next/static/|(?:t/[^/]+/)?(?:api|admin|login|registration|profile|token_exchange|thirdparty|saml|me|users|logout|sessions|\\.well-known|token|step|passkeys|authenticator|health|openapi\\.json|embed\\.js|docs|theme|dev)(?:/|$)).*)",
};

import type { Config } from "#server/config/schema";
import { isSecure } from "#server/http/request/cookies";

/** How a page stands to pages of other origins. */
export interface Embedding {
  /** The origins of the pages that may hold it in a frame; empty for none. */
  ancestors: readonly string[];
  /** Whether it speaks to the frame that opened it, in a page whose opener policy differs. */
  keepsOpener: boolean;
  /** Whether its forms may be sent: in a frame only those that lead to a page which may be framed too. */
  sendsForms: boolean;
}

/** A page that no other page may frame. */
export const unframed: Embedding = { ancestors: [], keepsOpener: false, sendsForms: true };

/**
 * The security headers of a page (OWASP ASVS 5.0, 3.4).
 *
 * @param nonce of the page's styles and script, new for each answer
 */
export function pageHeaders(nonce: string, embedding: Embedding, config: Config): Record<string, string> {
  const { ancestors, keepsOpener } = embedding;
  return {
    "Cache-Control": "no-store",
    "Content-Security-Policy": contentSecurityPolicy(nonce, embedding),
    "Permissions-Policy": permissionsPolicy(ancestors),
    // With `no-referrer`, a form would send `Origin: null`, and over plain http nothing else shows that it is same-origin.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    // Browsers let this header decide where they do not know `frame-ancestors`, which names the pages that hold a frame.
    ...(ancestors.length === 0 ? { "X-Frame-Options": "DENY" } : {}),
    "Cross-Origin-Opener-Policy": keepsOpener ? "unsafe-none" : "same-origin-allow-popups",
    "Cross-Origin-Resource-Policy": "same-origin",
    ...(isSecure(config) ? { "Strict-Transport-Security": "max-age=31536000; includeSubDomains" } : {}),
  };
}

/**
 * Only the styles and the script with the nonce apply, and the modules that the script imports (CSP Level 3, 8.2). Other origins are blocked, the
 * page cannot be framed but by pages on the list, and strings never become script or markup (Trusted Types).
 */
function contentSecurityPolicy(
  nonce: string,
  { ancestors, sendsForms }: Pick<Embedding, "ancestors" | "sendsForms">,
): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    `form-action ${sendsForms ? "'self'" : "'none'"}`,
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
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

/** Passkeys are allowed in the page itself and in its frame; no other feature that needs a permission is. */
function permissionsPolicy(ancestors: readonly string[]): string {
  const framed = ancestors.map((origin) => ` "${origin}"`).join("");
  return [
    ...["publickey-credentials-get", "publickey-credentials-create"].map(
      (feature) => `${feature}=(self${framed})`,
    ),
    ...disabledFeatures.map((feature) => `${feature}=()`),
  ].join(", ");
}

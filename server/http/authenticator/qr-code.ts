import { qrCodeContent } from "../../authenticator/request-addresses.ts";
import { openDeviceToken } from "../../authenticator/request-tokens.ts";
import { defaultQrCodeStyle, type QrCodeStyle, qrCodePng, qrCodeSvg } from "../../lib/qr-code.ts";
import { contrast } from "../../theme/color.ts";
import type { Reply } from "../answer/reply.ts";
import { notFound, requireCaller } from "./caller.ts";
import { authenticatorError } from "./error.ts";

/** The QR code of a request, which the authenticator scans. */

const MIN_PIXELS = 32;
const MAX_PIXELS = 1024;

/** The least contrast that cameras can read, which WCAG 2.2 (1.4.11) requires of graphics. */
const MIN_CONTRAST_RATIO = 3;

/** Pages of applications show the picture in an `<img>`. */
const headers = { "Cross-Origin-Resource-Policy": "cross-origin", Vary: "Accept" };

/**
 * `GET /authenticator/v1/uaf/requests/{id}/qrcode`: `width` and `height` in pixels; `fg` and `bg` as hex digits of red,
 * green and blue, with or without leading zeros. Answers PNG, unless the client prefers SVG. 404 once the request has
 * ended.
 */
export const qrCodeHandler = requireCaller(["picture"], async (context, { request }) => {
  const style = readStyle(context.url.searchParams);
  if (typeof style === "string") return authenticatorError(400, style);
  const { runtime, tenant } = context;
  const { id, status, sealedDeviceToken } = request;
  if (status !== "PENDING" || !sealedDeviceToken) return notFound();
  const token = openDeviceToken(runtime, { tenant, id }, sealedDeviceToken);
  return draw(qrCodeContent(tenant.config, id, token), style, context.request.headers.get("accept"));
});

async function draw(content: string, style: QrCodeStyle, accept: string | null): Promise<Reply | Response> {
  const drawn = await (prefersSvg(accept) ? qrCodeSvg(content, style) : qrCodePng(content, style));
  if ("minimumPixels" in drawn)
    return authenticatorError(
      400,
      `This code needs a width and a height of at least ${drawn.minimumPixels} pixels.`,
    );
  if ("svg" in drawn)
    return { status: 200, body: drawn.svg, headers: { ...headers, "Content-Type": "image/svg+xml" } };
  return new Response(new Uint8Array(drawn.png), { headers: { ...headers, "Content-Type": "image/png" } });
}

/** @returns an error message for invalid parameters */
function readStyle(query: URLSearchParams): QrCodeStyle | string {
  for (const name of ["width", "height", "fg", "bg"])
    if (query.getAll(name).length > 1) return `${name} may be given once.`;
  const width = pixels(query.get("width") ?? query.get("height") ?? String(defaultQrCodeStyle.width));
  const height = pixels(query.get("height") ?? query.get("width") ?? String(defaultQrCodeStyle.height));
  if (width === null || height === null)
    return `width and height must be whole numbers from ${MIN_PIXELS} to ${MAX_PIXELS}.`;
  const foreground = colour(query.get("fg") ?? defaultQrCodeStyle.foreground);
  const background = colour(query.get("bg") ?? defaultQrCodeStyle.background);
  if (foreground === null || background === null) return "fg and bg must be up to six hex digits, without #.";
  if (contrast(`#${foreground}`, `#${background}`) < MIN_CONTRAST_RATIO)
    return `fg and bg must have a contrast ratio of at least ${MIN_CONTRAST_RATIO}.`;
  return { ...defaultQrCodeStyle, width, height, foreground, background };
}

function pixels(text: string): number | null {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= MIN_PIXELS && number <= MAX_PIXELS ? number : null;
}

function colour(text: string): string | null {
  return /^[0-9a-f]{1,6}$/i.test(text) ? text.toLowerCase().padStart(6, "0") : null;
}

/**
 * Whether `Accept` ranks SVG above PNG (RFC 9110, 12.5.1). Browsers accept both, and most applications send no
 * preference.
 */
function prefersSvg(accept: string | null): boolean {
  if (accept === null) return false;
  const weights = new Map(
    accept
      .toLowerCase()
      .split(",")
      .map((range): [string, number] => {
        const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
        const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
        return [type, Number(weight) || 0];
      }),
  );
  const weightOf = (type: string) => weights.get(type) ?? weights.get("image/*") ?? weights.get("*/*") ?? 0;
  return weightOf("image/svg+xml") > weightOf("image/png");
}

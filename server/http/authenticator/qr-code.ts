import {
  contrast,
  leastContrast,
  plainLook,
  type QrCodeLook,
  qrCodePng,
  qrCodeSvg,
} from "../../authenticator/qr-code.ts";
import { qrCodeContent } from "../../authenticator/request-addresses.ts";
import { openDeviceToken } from "../../authenticator/request-tokens.ts";
import type { Handler } from "../handler-context.ts";
import type { Reply } from "../reply.ts";
import { admit, unknownRequest } from "./caller.ts";
import { authenticatorError } from "./problem.ts";

/** The picture that the phone reads: `interface.md` 4.4. */

const leastPixels = 32;
const mostPixels = 1024;

/** Pages of applications show it in an `<img>`. */
const headers = { "Cross-Origin-Resource-Policy": "cross-origin", Vary: "Origin, Accept" };

/**
 * `GET /authenticator/v1/uaf/requests/{id}/qrcode`: `width` and `height` in pixels, `fg` and `bg` as hex digits of red,
 * green and blue, zeros in front left out or not. PNG, unless SVG is liked better. Only while the request waits.
 */
export const qrCodeHandler: Handler = async (context) => {
  const admitted = await admit(context, "picture");
  if ("refusal" in admitted) return admitted.refusal;
  const look = readLook(context.url.searchParams);
  if (typeof look === "string") return authenticatorError(400, look);
  const { runtime, tenant } = context;
  const { id, status, sealedDeviceToken } = admitted.request;
  if (status !== "PENDING" || !sealedDeviceToken) return unknownRequest();
  const token = openDeviceToken(runtime, { tenant, id }, sealedDeviceToken);
  return draw(qrCodeContent(tenant.config, id, token), look, context.request.headers.get("accept"));
};

async function draw(content: string, look: QrCodeLook, accept: string | null): Promise<Reply | Response> {
  const drawn = await (prefersSvg(accept) ? qrCodeSvg(content, look) : qrCodePng(content, look));
  if ("needs" in drawn)
    return authenticatorError(400, `This code needs a width and a height of at least ${drawn.needs} pixels.`);
  if ("svg" in drawn)
    return { status: 200, body: drawn.svg, headers: { ...headers, "Content-Type": "image/svg+xml" } };
  return new Response(new Uint8Array(drawn.png), { headers: { ...headers, "Content-Type": "image/png" } });
}

/** @returns what is wrong with it, as a sentence */
function readLook(query: URLSearchParams): QrCodeLook | string {
  for (const name of ["width", "height", "fg", "bg"])
    if (query.getAll(name).length > 1) return `${name} may be given once.`;
  const width = pixels(query.get("width") ?? query.get("height") ?? String(plainLook.width));
  const height = pixels(query.get("height") ?? query.get("width") ?? String(plainLook.height));
  if (width === null || height === null)
    return `width and height must be whole numbers from ${leastPixels} to ${mostPixels}.`;
  const foreground = colour(query.get("fg") ?? plainLook.foreground);
  const background = colour(query.get("bg") ?? plainLook.background);
  if (foreground === null || background === null) return "fg and bg must be up to six hex digits, without #.";
  if (contrast(foreground, background) < leastContrast) return "fg and bg are too alike to be told apart.";
  return { width, height, foreground, background };
}

function pixels(text: string): number | null {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= leastPixels && number <= mostPixels ? number : null;
}

function colour(text: string): string | null {
  return /^[0-9a-f]{1,6}$/i.test(text) ? text.toLowerCase().padStart(6, "0") : null;
}

/** Whether a client likes SVG better than PNG (RFC 9110, 12.5.1). Browsers take both, and most applications say nothing. */
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
  const likes = (type: string) => weights.get(type) ?? weights.get("image/*") ?? weights.get("*/*") ?? 0;
  return likes("image/svg+xml") > likes("image/png");
}

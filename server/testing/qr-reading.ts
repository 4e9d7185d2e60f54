import jsQR from "jsqr";
import { PNG } from "pngjs";

/** The pixels of a QR code image. */
export interface Picture {
  width: number;
  height: number;
  /** Decoded text; null if it cannot be decoded. */
  text: string | null;
  /** Its colours as six hex digits, sorted. */
  colours: string[];
}

/** Decodes a QR code in a PNG. */
export function readPng(bytes: Uint8Array): Picture {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
  const read = jsQR(new Uint8ClampedArray(data), width, height);
  const colours = new Set<string>();
  for (let at = 0; at < data.length; at += 4) colours.add(data.subarray(at, at + 3).toString("hex"));
  return { width, height, text: read?.data ?? null, colours: [...colours].sort() };
}

/** Renders an SVG of modules, each a stroke or a square of one unit, and decodes it. */
export function readSvg(svg: string): string | null {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const [, left, top, scale] = /translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)/.exec(svg) ?? ["", 0, 0, 1];
  const zoom = Math.ceil(400 / size);
  const side = size * zoom;
  const pixels = new Uint8ClampedArray(side ** 2 * 4).fill(255);
  const pixel = (start: unknown, modules: number) =>
    Math.round((Number(start) + modules * Number(scale)) * zoom);
  let [x, y] = [0, 0];
  for (const [, command = "", first, second] of pathOf(svg)) {
    const [by, down] = [Number(first), Number(second)];
    if (command === "M") [x, y] = [by, Math.floor(down)];
    else if (command === "m") [x, y] = [x + by, y + down];
    else if (command === "v") y += by;
    else {
      for (let row = pixel(top, y); row < pixel(top, y + 1); row++) {
        pixels.fill(
          0,
          4 * (row * side + pixel(left, x)),
          4 * (row * side + pixel(left, Math.max(x + by, x))),
        );
      }
      x += by;
    }
  }
  // Makes every pixel opaque.
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  return jsQR(pixels, side, side)?.data ?? null;
}

/** The commands of the last path, which is painted on top. */
function pathOf(svg: string) {
  const path = [...svg.matchAll(/ d="([^"]*)"/g)].at(-1)?.[1] ?? "";
  return path.matchAll(/([Mmhv])\s*(-?[\d.]+)(?:[\s,]*(-?[\d.]+))?/g);
}

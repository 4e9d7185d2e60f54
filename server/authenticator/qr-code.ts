import { encodePng } from "./png.ts";

/** QR codes of requests: ISO/IEC 18004. */

/** How a code is drawn. */
export interface QrCodeLook {
  /** Pixels; the code stands in the middle of whatever is not square. */
  width: number;
  height: number;
  /** `rrggbb` of the modules that are set. */
  foreground: string;
  /** `rrggbb` */
  background: string;
}

export const plainLook: QrCodeLook = {
  width: 256,
  height: 256,
  foreground: "000000",
  background: "ffffff",
};

/** Modules that stay free on each side (section 6.3.8). */
const quietZone = 4;

interface Drawing {
  /** Modules on each side. */
  size: number;
  isSet(row: number, column: number): boolean;
}

/** A code, placed on its canvas: so many pixels to a module, the first one so far from the left and from the top. */
interface Placed extends Drawing {
  scale: number;
  left: number;
  top: number;
}

/**
 * Draws a code as PNG.
 *
 * @returns the least number of pixels that width and height need instead, where the code does not fit
 */
export async function qrCodePng(
  content: string,
  look: QrCodeLook,
): Promise<{ png: Buffer } | { needs: number }> {
  const placed = place(await draw(content), look);
  if ("needs" in placed) return placed;
  const { width, height, foreground, background } = look;
  const { size, scale, top } = placed;
  const blank = new Uint8Array(Math.ceil(width / 8));
  const lines = Array.from({ length: size }, (_, row) => lineOf(placed, row, width));
  // Lines of one row of modules are one buffer.
  const rows = Array.from({ length: height }, (_, y) => lines[Math.floor((y - top) / scale)] ?? blank);
  return { png: encodePng({ width, height, colours: [background, foreground], rows }) };
}

/**
 * The same as SVG, a unit to a module, which stands in the middle by itself: no script, no reference, and nothing of a
 * client's but numbers and two colours.
 */
export async function qrCodeSvg(
  content: string,
  look: QrCodeLook,
): Promise<{ svg: string } | { needs: number }> {
  const placed = place(await draw(content), look);
  if ("needs" in placed) return placed;
  const { width, height, foreground, background } = look;
  const whole = placed.size + 2 * quietZone;
  // Reaches beyond the code, whatever the canvas; what lies outside is not drawn.
  const far = whole * Math.ceil(Math.max(width / height, height / width));
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${whole} ${whole}" shape-rendering="crispEdges">`,
    `<path fill="#${background}" d="M${-far} ${-far}h${3 * far}v${3 * far}h${-3 * far}z"/>`,
    `<path stroke="#${foreground}" d="${strokes(placed)}"/>`,
    "</svg>",
  ];
  return { svg: svg.join("") };
}

/** A stroke, one unit wide, for each run of modules that are set. */
function strokes({ size, isSet }: Drawing): string {
  let path = "";
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!isSet(row, column)) continue;
      const start = column;
      while (column + 1 < size && isSet(row, column + 1)) column++;
      path += `M${quietZone + start} ${quietZone + row + 0.5}h${column + 1 - start}`;
    }
  }
  return path;
}

/** A plain code as a data URL (RFC 2397) of a PNG, with two pixels to a module for any content there can be. */
export async function qrCodeDataUrl(content: string): Promise<string> {
  const { size } = await draw(content);
  const side = 8 * (size + 2 * quietZone);
  const drawn = await qrCodePng(content, { ...plainLook, width: side, height: side });
  if ("needs" in drawn) throw new Error("the QR code does not fit its own size");
  return `data:image/png;base64,${drawn.png.toString("base64")}`;
}

async function draw(content: string): Promise<Drawing> {
  const { create } = await import("qrcode");
  const { modules } = create(content, { errorCorrectionLevel: "M" });
  return { size: modules.size, isSet: (row, column) => modules.get(row, column) === 1 };
}

function place(drawing: Drawing, { width, height }: QrCodeLook): Placed | { needs: number } {
  const whole = drawing.size + 2 * quietZone;
  const scale = Math.floor(Math.min(width, height) / whole);
  if (scale === 0) return { needs: whole };
  const middle = (length: number) => Math.floor((length - drawing.size * scale) / 2);
  return { ...drawing, scale, left: middle(width), top: middle(height) };
}

function lineOf({ size, scale, left, isSet }: Placed, row: number, width: number): Uint8Array {
  const line = new Uint8Array(Math.ceil(width / 8));
  for (let column = 0; column < size; column++) {
    if (!isSet(row, column)) continue;
    const start = left + column * scale;
    for (let x = start; x < start + scale; x++) line[x >> 3] = (line[x >> 3] ?? 0) | (0x80 >> (x & 7));
  }
  return line;
}

/** The least contrast that cameras tell two colours apart by: what WCAG 2.2 asks of graphics (section 1.4.11). */
export const leastContrast = 3;

/** Contrast of two colours, `rrggbb`, from 1 to 21: WCAG 2.2, section "contrast ratio". */
export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [...Buffer.from(colour, "hex")].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

import { encodePng } from "./png.ts";

/**
 * QR codes (ISO/IEC 18004) as PNG and SVG. The library computes the modules; why it does not draw them is in
 * docs/decisions, one QR renderer.
 */

export interface QrCodeStyle {
  /** Pixels. The code is centred in a picture that is not square. */
  width: number;
  height: number;
  /** `rrggbb`, colour of the dark modules. */
  foreground: string;
  /** `rrggbb` */
  background: string;
  /** Share of the code that may be unreadable: L 7 %, M 15 %, Q 25 %, H 30 %. */
  errorCorrection: "L" | "M" | "Q" | "H";
}

export const defaultQrCodeStyle: QrCodeStyle = {
  width: 256,
  height: 256,
  foreground: "000000",
  background: "ffffff",
  errorCorrection: "M",
};

/** Modules of quiet zone on each side (section 6.3.8). */
const QUIET_ZONE_MODULES = 4;

interface Modules {
  /** Modules on each side, without the quiet zone. */
  size: number;
  isDark(row: number, column: number): boolean;
}

/** The position of a code in its picture, in pixels. */
interface PlacedModules extends Modules {
  /** Pixels to a module. */
  scale: number;
  left: number;
  top: number;
}

/** The picture is too small; its shorter side needs this many pixels. */
interface TooSmall {
  minimumPixels: number;
}

/** Draws a code as PNG. */
export async function qrCodePng(content: string, style: QrCodeStyle): Promise<{ png: Buffer } | TooSmall> {
  const placed = place(await modulesOf(content, style), style);
  if ("minimumPixels" in placed) return placed;
  const { width, height, foreground, background } = style;
  const { size, scale, top } = placed;
  const blank = new Uint8Array(Math.ceil(width / 8));
  const lines = Array.from({ length: size }, (_, row) => pixelLine(placed, row, width));
  // All pixel rows of a row of modules share one buffer.
  const rows = Array.from({ length: height }, (_, y) => lines[Math.floor((y - top) / scale)] ?? blank);
  return { png: encodePng({ width, height, colours: [background, foreground], rows }) };
}

/** Draws a code as SVG, one unit to a module, without scripts and references. The viewer centres and scales it. */
export async function qrCodeSvg(content: string, style: QrCodeStyle): Promise<{ svg: string } | TooSmall> {
  const placed = place(await modulesOf(content, style), style);
  if ("minimumPixels" in placed) return placed;
  const { width, height, foreground, background } = style;
  const side = placed.size + 2 * QUIET_ZONE_MODULES;
  // The background covers a picture of any aspect ratio; the part outside the picture is clipped.
  const reach = side * Math.ceil(Math.max(width / height, height / width));
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges">`,
    `<path fill="#${background}" d="M${-reach} ${-reach}h${3 * reach}v${3 * reach}h${-3 * reach}z"/>`,
    `<path stroke="#${foreground}" d="${strokes(placed)}"/>`,
    "</svg>",
  ];
  return { svg: svg.join("") };
}

/**
 * Draws a black and white code as a data URL (RFC 2397) of a PNG, which refers to nothing outside itself.
 *
 * @param options.size pixels of each side; without it, eight pixels to a module, which fits any content
 * @throws Error if the code does not fit the size
 */
export async function qrCodeDataUrl(
  content: string,
  options: Partial<Pick<QrCodeStyle, "errorCorrection">> & { size?: number } = {},
): Promise<string> {
  const { errorCorrection = defaultQrCodeStyle.errorCorrection } = options;
  const size =
    options.size ?? 8 * ((await modulesOf(content, { errorCorrection })).size + 2 * QUIET_ZONE_MODULES);
  const drawn = await qrCodePng(content, {
    ...defaultQrCodeStyle,
    width: size,
    height: size,
    errorCorrection,
  });
  if (!("png" in drawn)) throw new Error(`the QR code needs ${drawn.minimumPixels} pixels, not ${size}`);
  return `data:image/png;base64,${drawn.png.toString("base64")}`;
}

/** An SVG path with one stroke, one unit wide, for each horizontal run of dark modules. */
function strokes({ size, isDark }: Modules): string {
  let path = "";
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!isDark(row, column)) continue;
      const start = column;
      while (column + 1 < size && isDark(row, column + 1)) column++;
      path += `M${QUIET_ZONE_MODULES + start} ${QUIET_ZONE_MODULES + row + 0.5}h${column + 1 - start}`;
    }
  }
  return path;
}

async function modulesOf(
  content: string,
  { errorCorrection }: Pick<QrCodeStyle, "errorCorrection">,
): Promise<Modules> {
  const { create } = await import("qrcode");
  const { modules } = create(content, { errorCorrectionLevel: errorCorrection });
  return { size: modules.size, isDark: (row, column) => modules.get(row, column) === 1 };
}

function place(modules: Modules, { width, height }: QrCodeStyle): PlacedModules | TooSmall {
  const side = modules.size + 2 * QUIET_ZONE_MODULES;
  const scale = Math.floor(Math.min(width, height) / side);
  if (scale === 0) return { minimumPixels: side };
  const margin = (length: number) => Math.floor((length - modules.size * scale) / 2);
  return { ...modules, scale, left: margin(width), top: margin(height) };
}

/** One row of pixels through a row of modules, one bit per pixel. */
function pixelLine({ size, scale, left, isDark }: PlacedModules, row: number, width: number): Uint8Array {
  const line = new Uint8Array(Math.ceil(width / 8));
  for (let column = 0; column < size; column++) {
    if (!isDark(row, column)) continue;
    const start = left + column * scale;
    for (let x = start; x < start + scale; x++) line[x >> 3] = (line[x >> 3] ?? 0) | (0x80 >> (x & 7));
  }
  return line;
}

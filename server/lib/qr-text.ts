import { inflateSync } from "node:zlib";

/** A picture as rows of pixels; true is dark. */
type Pixels = boolean[][];

const QUIET_ZONE_MODULES = 2;
/** Modules of each side of a finder pattern (ISO/IEC 18004, 6.3.3). */
const FINDER_MODULES = 7;

/**
 * Draws a QR code as text: two modules to a character, dark on light whatever the colours of the terminal are.
 *
 * @param dataUrl a PNG of two colours as a data URL (RFC 2397), as `qrCodeDataUrl` draws it
 * @returns null for any other picture
 */
export function qrCodeText(dataUrl: string): string | null {
  const [, base64] = /^data:image\/png;base64,([A-Za-z0-9+/=]+)$/.exec(dataUrl) ?? [];
  const pixels = base64 === undefined ? null : readTwoColourPng(Buffer.from(base64, "base64"));
  const modules = pixels && modulesOf(pixels);
  return modules && drawn(modules);
}

/** Reads a PNG of one bit per pixel without filters, as `encodePng` writes it; null for any other one. */
function readTwoColourPng(bytes: Buffer): Pixels | null {
  const data: Buffer[] = [];
  let [width, height] = [0, 0];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      if (content.length < 13 || content[8] !== 1 || content[12] !== 0) return null;
      [width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)];
    }
    if (type === "IDAT") data.push(content);
    at += 12 + length;
  }
  const stride = 1 + Math.ceil(width / 8);
  let rows: Buffer;
  try {
    rows = inflateSync(Buffer.concat(data), { maxOutputLength: 4_000_000 });
  } catch {
    return null;
  }
  if (width === 0 || rows.length !== stride * height) return null;
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => {
      const byte = rows[y * stride + 1 + (x >> 3)] ?? 0;
      return (byte & (0x80 >> (x & 7))) !== 0;
    }),
  );
}

/** The modules of a code that fills whole pixels, without its quiet zone. */
function modulesOf(pixels: Pixels): boolean[][] | null {
  const top = pixels.findIndex((row) => row.includes(true));
  const first = pixels[top];
  if (!first) return null;
  const left = first.indexOf(true);
  const right = first.lastIndexOf(true);
  const finderEnd = first.indexOf(false, left);
  const scale = Math.floor((finderEnd - left) / FINDER_MODULES);
  if (scale < 1) return null;
  const size = Math.round((right - left + 1) / scale);
  return Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => pixels[top + row * scale]?.[left + column * scale] ?? false),
  );
}

/** Draws with half blocks. The light modules are the drawn ones, on a dark ground that the escape codes set. */
function drawn(modules: boolean[][]): string {
  const side = modules.length + 2 * QUIET_ZONE_MODULES;
  const isDark = (row: number, column: number) =>
    modules[row - QUIET_ZONE_MODULES]?.[column - QUIET_ZONE_MODULES] ?? false;
  const blocks = ["█", "▀", "▄", " "];
  const lines: string[] = [];
  for (let row = 0; row < side; row += 2) {
    let line = "";
    for (let column = 0; column < side; column++) {
      const upper = isDark(row, column) ? 2 : 0;
      const lower = row + 1 < side && isDark(row + 1, column) ? 1 : 0;
      line += blocks[upper + lower];
    }
    lines.push(`\u001b[97;40m${line}\u001b[0m`);
  }
  return lines.join("\n");
}

import { crc32, deflateSync } from "node:zlib";

/** A picture of two colours, one bit per pixel: 1 stands for the second colour. */
export interface TwoColourPicture {
  width: number;
  height: number;
  /** `rrggbb` */
  colours: readonly [string, string];
  /** The leftmost pixel is the highest bit; bits beyond the width are 0. */
  rows: readonly Uint8Array[];
}

const signature = Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Encodes a picture as PNG (ISO/IEC 15948) with a palette of two colours, so large pictures stay small. */
export function encodePng({ width, height, colours, rows }: TwoColourPicture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 1, colour type 3 (palette); compression, filter method and interlacing are 0.
  header.set([1, 3], 8);
  const unfiltered = Buffer.of(0);
  const lines = Buffer.concat(rows.flatMap((row) => [unfiltered, row]));
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(colours.join(""), "hex")),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

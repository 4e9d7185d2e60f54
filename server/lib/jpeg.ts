/** A JPEG picture in the form that this server passes on: no metadata, nothing after its end. */
export interface Jpeg {
  bytes: Buffer;
  /** In pixels. */
  width: number;
  height: number;
}

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const DQT = 0xdb;
const DHT = 0xc4;
const DRI = 0xdd;
/** Baseline DCT. Progressive pictures can make a decoder work for seconds on a few bytes. */
const SOF0 = 0xc0;
const COM = 0xfe;

const kept = new Set([DQT, DHT, DRI, SOF0, SOS]);

/** APP0 with JFIF 1.01, square pixels and no thumbnail (ITU-T T.871): colours of three components are YCbCr. */
const jfif = Buffer.from("ffe000104a46494600010100000100010000", "hex");

/**
 * Reads a baseline JPEG picture (ITU-T T.81, annex B) and writes it again from the segments that a decoder needs. Comments
 * and application segments, such as EXIF with the place of a photograph, XMP, thumbnails and colour profiles, are left
 * out, and so is what follows the end of the picture. Compressed data are not decoded.
 *
 * @returns null if it is no such picture: another format, progressive, not of 8 bits, not in grey or three
 *   components, with more scans than components, or cut off
 */
export function withoutMetadata(given: Buffer): Jpeg | null {
  if (given[0] !== 0xff || given[1] !== SOI) return null;
  const parts = [given.subarray(0, 2), jfif];
  let frame: { width: number; height: number; components: number } | null = null;
  let scans = 0;
  let at = 2;
  while (at + 4 <= given.length) {
    const marker = given[at] === 0xff ? given.readUInt8(at + 1) : 0;
    const isDropped = (marker >= 0xe0 && marker <= 0xef) || marker === COM;
    if (!isDropped && !kept.has(marker)) return null;
    const end = at + 2 + given.readUInt16BE(at + 2);
    if (end < at + 4 || end > given.length) return null;
    const segment = given.subarray(at, end);
    at = end;
    if (isDropped) continue;
    parts.push(segment);
    if (marker === SOF0) {
      if (frame) return null;
      frame = frameOf(segment);
      if (!frame) return null;
    }
    if (marker !== SOS) continue;
    scans += 1;
    if (!frame || scans > frame.components) return null;
    const next = endOfScan(given, at);
    if (next === null) return null;
    parts.push(given.subarray(at, next));
    at = next;
    if (given[at + 1] !== EOI) continue;
    const { width, height } = frame;
    return { bytes: Buffer.concat([...parts, Buffer.of(0xff, EOI)]), width, height };
  }
  return null;
}

/** Reads the frame header (B.2.2). */
function frameOf(segment: Buffer): { width: number; height: number; components: number } | null {
  const [precision, components = 0] = [segment[4], segment[9]];
  const isSupported = precision === 8 && (components === 1 || components === 3);
  if (!isSupported || segment.length !== 10 + 3 * components) return null;
  const [height, width] = [segment.readUInt16BE(5), segment.readUInt16BE(7)];
  return width > 0 && height > 0 ? { width, height, components } : null;
}

/** Finds the marker after the entropy-coded data of a scan, which have stuffed bytes and restart markers (B.1.1.5). */
function endOfScan(given: Buffer, start: number): number | null {
  for (
    let at = given.indexOf(0xff, start);
    at >= 0 && at + 1 < given.length;
    at = given.indexOf(0xff, at + 2)
  ) {
    const next = given.readUInt8(at + 1);
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return null;
}

/** Bytes are not TLV, or do not match the description of their structure. */
export class TlvError extends Error {}

/** An item of tag, length and value: UAF Authenticator Commands 1.1. */
export interface TlvItem {
  tag: number;
  value: Buffer;
  /** Header and value; signatures cover both. */
  whole: Buffer;
}

/** Tag and length: two bytes each, little-endian. */
const HEADER_BYTES = 4;

/**
 * Parses a sequence of TLV items. It does not recurse, so the caller and not the input determines the depth.
 *
 * @throws TlvError if an item is truncated
 */
export function parseTlv(bytes: Buffer): TlvItem[] {
  const items: TlvItem[] = [];
  for (let start = 0; start < bytes.length; ) {
    if (start + HEADER_BYTES > bytes.length) throw new TlvError("the header of an item is truncated");
    const end = start + HEADER_BYTES + bytes.readUInt16LE(start + 2);
    if (end > bytes.length) throw new TlvError("an item is truncated");
    items.push({
      tag: bytes.readUInt16LE(start),
      value: bytes.subarray(start + HEADER_BYTES, end),
      whole: bytes.subarray(start, end),
    });
    start = end;
  }
  return items;
}

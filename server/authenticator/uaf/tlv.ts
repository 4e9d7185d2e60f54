/** Bytes are not TLV, or not of the form that an object has. */
export class TlvError extends Error {}

/** An item of tag, length and value: UAF Authenticator Commands 1.1. */
export interface TlvItem {
  tag: number;
  value: Buffer;
  /** Head and value, as signatures cover them. */
  whole: Buffer;
}

/** Tag and length, two bytes each, the low one first. */
const headSize = 4;

/**
 * The items that some bytes consist of, one after the other and nothing after the last. What lies within an item is
 * read by asking again with its value: how deep that goes is for whoever asks to say, not for the bytes.
 *
 * @throws TlvError when an item is cut short
 */
export function tlvItems(bytes: Buffer): TlvItem[] {
  const items: TlvItem[] = [];
  for (let start = 0; start < bytes.length; ) {
    if (start + headSize > bytes.length) throw new TlvError("the head of an item is cut short");
    const end = start + headSize + bytes.readUInt16LE(start + 2);
    if (end > bytes.length) throw new TlvError("an item is cut short");
    items.push({
      tag: bytes.readUInt16LE(start),
      value: bytes.subarray(start + headSize, end),
      whole: bytes.subarray(start, end),
    });
    start = end;
  }
  return items;
}

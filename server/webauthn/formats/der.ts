/** Bytes are not DER, or of a size that certificates of authenticators do not have. */
export class DerError extends Error {}

/** A data item of DER (X.690 section 8.1), read no deeper than its own head. */
export interface DerItem {
  tagClass: "universal" | "application" | "context" | "private";
  tag: number;
  content: Buffer;
}

const tagClasses = ["universal", "application", "context", "private"] as const;

/** Highest tag that is read: those of Android's key descriptions go up to some hundreds. */
const highestTag = 0xffff;

/**
 * The data items that some bytes consist of, one after the other. What lies within them is read by asking again with
 * their content.
 *
 * @throws DerError when the bytes are not whole items of definite length
 */
export function derItems(bytes: Uint8Array): DerItem[] {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const items: DerItem[] = [];
  for (let start = 0; start < source.length; ) {
    const { item, end } = itemAt(source, start);
    items.push(item);
    start = end;
  }
  return items;
}

/**
 * The one data item that some bytes consist of.
 *
 * @throws DerError when there is none, or more than one
 */
export function derItem(bytes: Uint8Array): DerItem {
  const [item, ...others] = derItems(bytes);
  if (!item || others.length > 0) throw new DerError("not one DER item");
  return item;
}

function itemAt(source: Buffer, start: number): { item: DerItem; end: number } {
  const identifier = octetAt(source, start);
  const { tag, end: afterTag } = tagAt(source, start);
  const { length, end: afterLength } = lengthAt(source, afterTag);
  const end = afterLength + length;
  if (end > source.length) throw new DerError("a DER item is cut short");
  const tagClass = tagClasses[identifier >> 6] ?? "universal";
  return { item: { tagClass, tag, content: source.subarray(afterLength, end) }, end };
}

/** The low form of a tag lies in the identifier octet, the high one in those that follow (X.690 section 8.1.2). */
function tagAt(source: Buffer, start: number): { tag: number; end: number } {
  const low = octetAt(source, start) & 0x1f;
  if (low < 0x1f) return { tag: low, end: start + 1 };
  let tag = 0;
  for (let at = start + 1; ; at++) {
    const octet = octetAt(source, at);
    tag = tag * 128 + (octet & 0x7f);
    if (tag > highestTag) throw new DerError("a DER tag is too high");
    if (octet < 0x80) return { tag, end: at + 1 };
  }
}

/** X.690 section 8.1.3; DER has definite lengths only, and three octets of them are more than is ever sent here. */
function lengthAt(source: Buffer, start: number): { length: number; end: number } {
  const first = octetAt(source, start);
  if (first < 0x80) return { length: first, end: start + 1 };
  const size = first & 0x7f;
  if (size < 1 || size > 3) throw new DerError("a DER length is indefinite, or too long");
  if (start + 1 + size > source.length) throw new DerError("a DER length is cut short");
  return { length: source.readUIntBE(start + 1, size), end: start + 1 + size };
}

function octetAt(source: Buffer, at: number): number {
  const octet = source[at];
  if (octet === undefined) throw new DerError("DER ends before an item");
  return octet;
}

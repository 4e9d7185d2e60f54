/** Thrown for bytes that are not DER or exceed the sizes in certificates of authenticators. */
export class DerError extends Error {}

/** A data item of DER (X.690 section 8.1); its content is not decoded. */
export interface DerItem {
  tagClass: "universal" | "application" | "context" | "private";
  tag: number;
  content: Buffer;
}

const tagClasses = ["universal", "application", "context", "private"] as const;

/** Tags of Android's key descriptions go up to some hundreds. */
const MAX_TAG = 0xffff;

/**
 * Splits bytes into the data items they consist of. Call it again with the content of an item to read nested items.
 *
 * @throws DerError unless the bytes are complete items of definite length
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
 * Reads bytes that consist of one data item.
 *
 * @throws DerError if there is none, or more than one
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
  if (end > source.length) throw new DerError("a DER item is truncated");
  const tagClass = tagClasses[identifier >> 6] ?? "universal";
  return { item: { tagClass, tag, content: source.subarray(afterLength, end) }, end };
}

/** A low tag number is part of the identifier octet, a high one follows it (X.690 section 8.1.2). */
function tagAt(source: Buffer, start: number): { tag: number; end: number } {
  const low = octetAt(source, start) & 0x1f;
  if (low < 0x1f) return { tag: low, end: start + 1 };
  let tag = 0;
  for (let at = start + 1; ; at++) {
    const octet = octetAt(source, at);
    tag = tag * 128 + (octet & 0x7f);
    if (tag > MAX_TAG) throw new DerError("a DER tag is too high");
    if (octet < 0x80) return { tag, end: at + 1 };
  }
}

/** X.690 section 8.1.3; DER has definite lengths only, and three octets suffice for certificates. */
function lengthAt(source: Buffer, start: number): { length: number; end: number } {
  const first = octetAt(source, start);
  if (first < 0x80) return { length: first, end: start + 1 };
  const size = first & 0x7f;
  if (size < 1 || size > 3) throw new DerError("a DER length is indefinite, or too long");
  if (start + 1 + size > source.length) throw new DerError("a DER length is truncated");
  return { length: source.readUIntBE(start + 1, size), end: start + 1 + size };
}

function octetAt(source: Buffer, at: number): number {
  const octet = source[at];
  if (octet === undefined) throw new DerError("DER ends before an item");
  return octet;
}

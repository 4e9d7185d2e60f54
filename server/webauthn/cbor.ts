/** CTAP 2.1 section 8 allows four levels; attestation statements need five. */
const MAX_DEPTH = 8;

/** Thrown for a CBOR data item that is truncated, nested too deep, or of a kind that WebAuthn does not use. */
export class CborError extends Error {}

/**
 * Returns the length of the first data item (RFC 8949 section 3) in some bytes. Decoders may ignore trailing bytes,
 * accept truncated strings, or recurse to any depth; with the length the caller can reject such input.
 *
 * @returns the length of the item, in bytes
 * @throws CborError if the item is truncated, of indefinite length, or nested more than eight levels deep
 */
export function cborItemLength(bytes: Uint8Array): number {
  return endOf(bytes, 0, 0);
}

function endOf(bytes: Uint8Array, start: number, depth: number): number {
  if (depth > MAX_DEPTH) throw new CborError("CBOR is nested too deep");
  const { major, argument, end } = head(bytes, start);
  switch (major) {
    case 2:
    case 3:
      if (end + argument > bytes.length) throw new CborError("a CBOR string is truncated");
      return end + argument;
    case 4:
      return endOfItems(bytes, end, argument, depth);
    case 5:
      return endOfItems(bytes, end, 2 * argument, depth);
    case 6:
      return endOf(bytes, end, depth + 1);
    default:
      return end;
  }
}

function endOfItems(bytes: Uint8Array, start: number, count: number, depth: number): number {
  let end = start;
  for (let item = 0; item < count; item++) end = endOf(bytes, end, depth + 1);
  return end;
}

/** Major type and argument, RFC 8949 section 3. For floats the argument is their bytes, which are skipped already. */
function head(bytes: Uint8Array, start: number): { major: number; argument: number; end: number } {
  const first = bytes[start];
  if (first === undefined) throw new CborError("CBOR ends before an item");
  const major = first >> 5;
  const short = first & 0x1f;
  if (short < 24) return { major, argument: short, end: start + 1 };
  if (short > 27) throw new CborError("CBOR of indefinite length");
  const size = 2 ** (short - 24);
  const end = start + 1 + size;
  if (end > bytes.length) throw new CborError("a CBOR head is truncated");
  const argument = bytes.subarray(start + 1, end).reduce((sum, byte) => sum * 256 + byte, 0);
  return { major, argument, end };
}

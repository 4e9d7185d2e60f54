/** How deep items may lie within each other: CTAP 2.1 section 8 allows four levels, statements of attestation need five. */
const maxDepth = 8;

/** A CBOR data item is cut short, too deep, or of a kind that WebAuthn does not use. */
export class CborError extends Error {}

/**
 * Measures the first data item (RFC 8949 section 3) in some bytes, down to its last leaf. Decoders may stop after the
 * first item, take a string that is cut short for a shorter one, or follow any depth; whoever knows where the item
 * ends can refuse what comes after it.
 *
 * @returns the length of the item, in bytes
 * @throws CborError for an item that is not whole, of indefinite length, or nested more than eight levels deep
 */
export function cborItemLength(bytes: Uint8Array): number {
  return endOf(bytes, 0, 0);
}

function endOf(bytes: Uint8Array, start: number, depth: number): number {
  if (depth > maxDepth) throw new CborError("CBOR is nested too deep");
  const { major, argument, end } = head(bytes, start);
  switch (major) {
    case 2:
    case 3:
      if (end + argument > bytes.length) throw new CborError("a CBOR string is cut short");
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

/** Major type and argument, RFC 8949 section 3. For floats the argument is their bytes, already passed over. */
function head(bytes: Uint8Array, start: number): { major: number; argument: number; end: number } {
  const first = bytes[start];
  if (first === undefined) throw new CborError("CBOR ends before an item");
  const major = first >> 5;
  const short = first & 0x1f;
  if (short < 24) return { major, argument: short, end: start + 1 };
  if (short > 27) throw new CborError("CBOR of indefinite length");
  const size = 2 ** (short - 24);
  const end = start + 1 + size;
  if (end > bytes.length) throw new CborError("a CBOR head is cut short");
  const argument = bytes.subarray(start + 1, end).reduce((sum, byte) => sum * 256 + byte, 0);
  return { major, argument, end };
}

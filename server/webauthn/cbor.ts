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

/**
 * Reads a map from integers to integers and byte strings, such as a COSE_Key, in the canonical form of CTAP 2.2 section
 * 8: shortest heads, and each key once. A decoder should reject any other form (WebAuthn Level 3 section 2), because two
 * decoders could read different values. Keys in another order are read: they mean the same to every decoder, and a
 * passkey whose key was stored so goes on to sign in.
 *
 * @returns null unless the bytes are exactly one such map
 */
export function readIntegerMap(bytes: Uint8Array): ReadonlyMap<number, number | Buffer> | null {
  try {
    const map = head(bytes, 0);
    if (map.major !== MAP || !map.shortest) return null;
    const members = new Map<number, number | Buffer>();
    let at = map.end;
    for (let member = 0; member < map.argument; member++) {
      const key = readInteger(bytes, at);
      const value = key && (readInteger(bytes, key.end) ?? readBytes(bytes, key.end));
      if (!value || members.has(key.value)) return null;
      members.set(key.value, value.value);
      at = value.end;
    }
    return at === bytes.length ? members : null;
  } catch (error) {
    if (error instanceof CborError) return null;
    throw error;
  }
}

interface Read<Value> {
  value: Value;
  end: number;
}

function readInteger(bytes: Uint8Array, at: number): Read<number> | null {
  const { major, argument, end, shortest } = head(bytes, at);
  if (major > NEGATIVE_INTEGER || !shortest || argument > Number.MAX_SAFE_INTEGER) return null;
  return { value: major === NEGATIVE_INTEGER ? -1 - argument : argument, end };
}

function readBytes(bytes: Uint8Array, at: number): Read<Buffer> | null {
  const { major, argument, end, shortest } = head(bytes, at);
  if (major !== BYTE_STRING || !shortest || end + argument > bytes.length) return null;
  return { value: Buffer.from(bytes.subarray(end, end + argument)), end: end + argument };
}

/** Major types (RFC 8949 section 3.1). */
const NEGATIVE_INTEGER = 1;
const BYTE_STRING = 2;
const MAP = 5;

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

interface Head {
  major: number;
  argument: number;
  end: number;
  /** Whether the argument is in its shortest form. */
  shortest: boolean;
}

/** Major type and argument, RFC 8949 section 3. For floats the argument is their bytes, which are skipped already. */
function head(bytes: Uint8Array, start: number): Head {
  const first = bytes[start];
  if (first === undefined) throw new CborError("CBOR ends before an item");
  const major = first >> 5;
  const short = first & 0x1f;
  if (short < 24) return { major, argument: short, end: start + 1, shortest: true };
  if (short > 27) throw new CborError("CBOR of indefinite length");
  const size = 2 ** (short - 24);
  const end = start + 1 + size;
  if (end > bytes.length) throw new CborError("a CBOR head is truncated");
  const argument = bytes.subarray(start + 1, end).reduce((sum, byte) => sum * 256 + byte, 0);
  return { major, argument, end, shortest: argument >= (size === 1 ? 24 : 2 ** (4 * size)) };
}

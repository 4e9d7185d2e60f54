/**
 * The CBOR (RFC 8949) of WebAuthn authenticators, in the canonical form of CTAP 2.1 section 8: shortest lengths,
 * definite sizes, sorted map keys. Shares no code with the verifier.
 */
export type Cbor =
  | number
  | string
  | boolean
  | Uint8Array
  | readonly Cbor[]
  | ReadonlyMap<number | string, Cbor>;

/**
 * Encodes one data item.
 *
 * @param value integers (up to 2^53), text, booleans, byte strings, arrays, and maps with integer or text keys
 * @throws TypeError if a number is not an integer
 */
export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not an integer`);
    return value < 0 ? head(1, -1 - value) : head(0, value);
  }
  if (typeof value === "boolean") return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === "string") {
    const text = Buffer.from(value, "utf8");
    return Buffer.concat([head(3, text.length), text]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (isMap(value)) return encodeMap(value);
  return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)]);
}

function encodeMap(map: ReadonlyMap<number | string, Cbor>): Buffer {
  const pairs = [...map].map(([key, value]) => ({ key: encodeCbor(key), value: encodeCbor(value) }));
  // CTAP 2.1 section 8: first the major type, then the shorter key, then byte by byte.
  pairs.sort(
    (a, b) => majorType(a.key) - majorType(b.key) || a.key.length - b.key.length || a.key.compare(b.key),
  );
  return Buffer.concat([head(5, pairs.length), ...pairs.flatMap(({ key, value }) => [key, value])]);
}

function head(major: number, argument: number): Buffer {
  const type = major << 5;
  if (argument < 24) return Buffer.from([type | argument]);
  if (argument < 0x100) return Buffer.from([type | 24, argument]);
  if (argument < 0x1_0000) {
    const bytes = Buffer.from([type | 25, 0, 0]);
    bytes.writeUInt16BE(argument, 1);
    return bytes;
  }
  if (argument < 0x1_0000_0000) {
    const bytes = Buffer.from([type | 26, 0, 0, 0, 0]);
    bytes.writeUInt32BE(argument, 1);
    return bytes;
  }
  const bytes = Buffer.alloc(9);
  bytes[0] = type | 27;
  bytes.writeBigUInt64BE(BigInt(argument), 1);
  return bytes;
}

const majorType = (encoded: Buffer) => (encoded[0] ?? 0) >> 5;

function isMap(
  value: readonly Cbor[] | ReadonlyMap<number | string, Cbor>,
): value is ReadonlyMap<number | string, Cbor> {
  return value instanceof Map;
}

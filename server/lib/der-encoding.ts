/** DER encoder (X.690). It shares no code with the reader, `der.ts`. */

/**
 * Encodes one data item.
 *
 * @param identifier the identifier octet, or several for tags from 31 on
 */
export function der(identifier: number | readonly number[], ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const octets = typeof identifier === "number" ? [identifier] : identifier;
  return Buffer.concat([Buffer.from(octets), lengthOf(content.length), content]);
}

/** X.690, 8.1.3: short up to 127, else the number of octets before the octets. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const octets = octetsOf(length);
  return Buffer.from([0x80 | octets.length, ...octets]);
}

/** The fewest octets of a number, most significant first. */
function octetsOf(number: number): number[] {
  return number < 0x100 ? [number] : [...octetsOf(Math.floor(number / 0x100)), number & 0xff];
}

export const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents);
export const setOf = (...contents: Uint8Array[]) => der(0x31, ...contents);
export const octetString = (bytes: Uint8Array) => der(0x04, bytes);
export const bitString = (bytes: Uint8Array) => der(0x03, Buffer.of(0), bytes);
export const nothing = () => der(0x05);
export const boolean = (value: boolean) => der(0x01, Buffer.of(value ? 0xff : 0));
export const enumerated = (value: number) => der(0x0a, Buffer.of(value));
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const printable = (text: string) => der(0x13, Buffer.from(text));

/**
 * A whole number.
 *
 * @param value the number, at least 0, or the octets of its two's complement as they are
 */
export const integer = (value: number | Uint8Array) =>
  typeof value === "number" ? unsigned(octetsOf(value)) : der(0x02, value);

/** The number of some octets, most significant first, in the fewest octets that keep it positive (X.690, 8.3). */
export function unsigned(octets: ArrayLike<number>): Buffer {
  const number = Buffer.from(octets);
  const start = number.findIndex((octet) => octet !== 0);
  const digits = start < 0 ? Buffer.of(0) : number.subarray(start);
  return der(0x02, (digits[0] ?? 0) < 0x80 ? digits : Buffer.concat([Buffer.of(0), digits]));
}

/** An explicit tag of the context's own class. */
export function tagged(tag: number, ...contents: Uint8Array[]): Buffer {
  if (tag < 31) return der(0xa0 | tag, ...contents);
  return der([0xbf, 0x80 | (tag >> 7), tag & 0x7f], ...contents);
}

/** @param dotted for instance `1.2.840.10045.2.1` */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** A time of a certificate, to the second: two digits of the year until 2049, four from then on (RFC 5280, 4.1.2.5). */
export function time(moment: Date): Buffer {
  const digits = `${moment.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return moment.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2)))
    : der(0x18, Buffer.from(digits));
}

function base128(value: number): number[] {
  const low = value & 0x7f;
  const high = Math.floor(value / 128);
  return high === 0 ? [low] : [...base128(high).map((octet) => octet | 0x80), low];
}

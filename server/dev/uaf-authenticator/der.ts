/** DER encoder (X.690) for certificates. It shares no code with the parser. */

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

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  if (length < 0x100) return Buffer.of(0x81, length);
  return Buffer.of(0x82, length >> 8, length & 0xff);
}

export const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents);
export const setOf = (...contents: Uint8Array[]) => der(0x31, ...contents);
export const octetString = (bytes: Uint8Array) => der(0x04, bytes);
export const bitString = (bytes: Uint8Array) => der(0x03, Buffer.of(0), bytes);
export const boolean = (value: boolean) => der(0x01, Buffer.of(value ? 0xff : 0));
export const enumerated = (value: number) => der(0x0a, Buffer.of(value));
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const printable = (text: string) => der(0x13, Buffer.from(text));

/** @param value up to two octets, or the octets themselves */
export function integer(value: number | Uint8Array): Buffer {
  if (typeof value !== "number") return der(0x02, value);
  return der(0x02, value < 0x80 ? Buffer.of(value) : Buffer.of(value >> 8, value & 0xff));
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

/** GeneralizedTime, to the second. */
export function time(moment: Date): Buffer {
  return der(0x18, Buffer.from(`${moment.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

function base128(value: number): number[] {
  const low = value & 0x7f;
  const high = Math.floor(value / 128);
  return high === 0 ? [low] : [...base128(high).map((octet) => octet | 0x80), low];
}

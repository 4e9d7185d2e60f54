/** Encodings of the y coordinates of points whose order divides 8; the last two exceed the field. */
const coordinates = [
  `00${"00".repeat(31)}`,
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
];

const withSign = (encoded: Buffer) => Buffer.from(encoded.with(31, (encoded[31] ?? 0) | 0x80));

/**
 * All 14 strings that decoders of Ed25519 take for a point of small order: the eight canonical encodings, and six that
 * lenient decoders accept ("Taming the many EdDSAs", Chalkias, Garillot and Nikolaenko, 2020, table 6).
 */
export const smallOrderPoints: readonly Buffer[] = coordinates
  .map((text) => Buffer.from(text, "hex"))
  .flatMap((encoded) => [encoded, withSign(encoded)]);

import { createPublicKey, type KeyObject, sign } from "node:crypto";

/** ASN.1 tags of DER (ITU-T X.690) used in a certificate. */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  explicit0: 0xa0,
  explicit3: 0xa3,
};

function der(tag: keyof typeof tags, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tags[tag]), lengthOf(content.length), content]);
}

/** X.690, 8.1.3: short up to 127, else the number of bytes before the bytes. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.from(
    length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, "0"),
    "hex",
  );
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes]);
}

const oids = {
  commonName: Buffer.of(0x55, 0x04, 0x03),
  sha256WithRsa: Buffer.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b),
  basicConstraints: Buffer.of(0x55, 0x1d, 0x13),
};

/**
 * Creates a self-signed X.509 certificate (RFC 5280). SAML uses only its key. The result is deterministic, so it need
 * not be stored.
 *
 * @param privateKey RSA
 * @param commonName at most 64 characters
 * @param serial positive, at most 20 bytes
 * @returns PEM
 */
export function selfSignedCertificate(
  privateKey: KeyObject,
  { commonName, serial, from, until }: { commonName: string; serial: Buffer; from: Date; until: Date },
): string {
  const algorithm = der("sequence", der("oid", oids.sha256WithRsa), der("null"));
  const name = der(
    "sequence",
    der("set", der("sequence", der("oid", oids.commonName), der("utf8", Buffer.from(commonName)))),
  );
  // Empty basic constraints: not a certificate authority.
  const constraints = der(
    "sequence",
    der("oid", oids.basicConstraints),
    der("boolean", Buffer.of(0xff)),
    der("octetString", der("sequence")),
  );
  const statement = der(
    "sequence",
    der("explicit0", der("integer", Buffer.of(2))),
    der("integer", positive(serial)),
    algorithm,
    name,
    der("sequence", time(from), time(until)),
    name,
    createPublicKey(privateKey).export({ type: "spki", format: "der" }),
    der("explicit3", der("sequence", constraints)),
  );
  const signature = sign("sha256", statement, privateKey);
  const certificate = der("sequence", statement, algorithm, der("bitString", Buffer.of(0), signature));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** X.690, 8.3: minimal encoding, with a leading zero byte if the number would be negative without. */
function positive(number: Buffer): Buffer {
  const start = number.findIndex((byte) => byte !== 0);
  const bytes = start < 0 ? Buffer.of(0) : number.subarray(start);
  return (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]);
}

/** RFC 5280, 4.1.2.5: two digits of the year until 2049, four from then on. */
function time(moment: Date): Buffer {
  const digits = `${moment.toISOString().replace(/\.\d+|[-:T]/g, "")}`;
  return moment.getUTCFullYear() < 2050
    ? der("utcTime", Buffer.from(digits.slice(2)))
    : der("generalizedTime", Buffer.from(digits));
}

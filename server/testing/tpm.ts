import { createHash } from "node:crypto";

/** Structures of the TPM 2.0 Library specification, part 2 (revision 1.59). */

const sha256Algorithm = 0x000b;
const nullAlgorithm = 0x0010;

/** TPMT_PUBLIC (12.2.4) of a P-256 signing key. */
export function tpmPublic({ x, y }: { x: Buffer; y: Buffer }): Buffer {
  const ecc = 0x0023;
  const p256 = 0x0003;
  const attributes = Buffer.alloc(4);
  attributes.writeUInt32BE(0x0006_0472);
  return Buffer.concat([
    words(ecc, sha256Algorithm),
    attributes,
    sized(Buffer.alloc(0)),
    words(nullAlgorithm, nullAlgorithm, p256, nullAlgorithm),
    sized(x),
    sized(y),
  ]);
}

/** TPMS_ATTEST (10.12.8), certifying a key (10.12.3). */
export function tpmAttest(about: { magic: number; extraData: Buffer; pubArea: Buffer }): Buffer {
  const certify = 0x8017;
  const magic = Buffer.alloc(4);
  magic.writeUInt32BE(about.magic);
  const name = Buffer.concat([words(sha256Algorithm), createHash("sha256").update(about.pubArea).digest()]);
  const clockAndFirmware = Buffer.alloc(17 + 8);
  return Buffer.concat([
    magic,
    words(certify),
    sized(Buffer.alloc(0)),
    sized(about.extraData),
    clockAndFirmware,
    sized(name),
    sized(name),
  ]);
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

const sized = (bytes: Buffer) => Buffer.concat([words(bytes.length), bytes]);

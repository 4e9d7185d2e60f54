import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeCbor } from "../testing/cbor.ts";
import { readAuthenticatorData } from "./authenticator-data.ts";

const rpIdHash = Buffer.alloc(32, 7);
const fixed = (flags: number) => Buffer.concat([rpIdHash, Buffer.of(flags, 1, 2, 3, 4)]);
const none = {
  userPresent: false,
  userVerified: false,
  backupEligible: false,
  backedUp: false,
};

/** Attested credential data: AAGUID, an id of three bytes, and a public key. */
const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(0, 3, 9, 9, 9), encodeCbor(new Map([[1, 2]]))]);
const extensions = encodeCbor(new Map([["example", true]]));
const [AT, ED] = [0x40, 0x80];

test.each([
  [0x00, {}],
  [0x01, { userPresent: true }],
  [0x04, { userVerified: true }],
  [0x08, { backupEligible: true }],
  [0x10, { backedUp: true }],
  // Bits that are reserved for future use.
  [0x22, {}],
])("reads the flags %i and the counter", (flags, set) => {
  expect(readAuthenticatorData(fixed(flags))).toEqual({ rpIdHash, signCount: 0x01020304, ...none, ...set });
});

test.each([
  ["a credential", AT, [attested]],
  ["extensions", ED, [extensions]],
  ["both", AT | ED, [attested, extensions]],
])("skips %s", (_, flags, parts) => {
  expect(readAuthenticatorData(Buffer.concat([fixed(flags), ...parts]))).toMatchObject(none);
});

test("returns the public key of a credential as it was sent", () => {
  const publicKey = encodeCbor(new Map([[1, 2]]));
  expect(readAuthenticatorData(Buffer.concat([fixed(AT | ED), attested, extensions]))?.publicKey).toEqual(
    publicKey,
  );
  expect(readAuthenticatorData(fixed(0))).not.toHaveProperty("publicKey");
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a byte too few", fixed(0).subarray(0, 36)],
  ["a byte too many", Buffer.concat([fixed(0), Buffer.of(0)])],
  ["a credential that the flags do not name", Buffer.concat([fixed(0), attested])],
  ["no credential where the flags name one", fixed(AT)],
  ["an AAGUID alone", Buffer.concat([fixed(AT), attested.subarray(0, 16)])],
  ["a credential id longer than the data", Buffer.concat([fixed(AT), attested.subarray(0, 20)])],
  ["a credential without a key", Buffer.concat([fixed(AT), attested.subarray(0, 21)])],
  ["a key that is no map", Buffer.concat([fixed(AT), attested.subarray(0, 21), encodeCbor("key")])],
  ["a truncated key", Buffer.concat([fixed(AT), attested.subarray(0, -1)])],
  ["no extensions where the flags name them", fixed(ED)],
  ["extensions that are no map", Buffer.concat([fixed(ED), encodeCbor([1])])],
  ["truncated extensions", Buffer.concat([fixed(ED), extensions.subarray(0, -1)])],
  ["a byte after the extensions", Buffer.concat([fixed(ED), extensions, Buffer.of(0)])],
  ["extensions before the credential", Buffer.concat([fixed(AT | ED), extensions, attested])],
  ["a map that nests without end", Buffer.concat([fixed(ED), Buffer.alloc(8000, 0xa1)])],
])("rejects %s", (_, bytes) => {
  expect(readAuthenticatorData(bytes)).toBe(null);
});

test("never throws for bytes of any kind", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
      const read = readAuthenticatorData(Buffer.from(tail));
      expect(read === null || tail.length >= 37).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

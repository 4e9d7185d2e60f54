import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeTlv, type Item, item, nestedTlv } from "../../testing/uaf-authenticator/tlv.ts";
import { tags } from "./tags.ts";
import { TlvError } from "./tlv.ts";
import { bytes, oneOf, oneOrMore, parseTlvStructure } from "./tlv-structure.ts";

const description = {
  name: bytes(tags.AAID, 3),
  either: oneOf({ keyId: bytes(tags.KEYID, [1, 4]), publicKey: bytes(tags.PUB_KEY, [1, 4]) }),
  many: oneOrMore(bytes(tags.ATTESTATION_CERT, [0, 2])),
};

const name = item("aaid", Buffer.from("abc"));
const either = item("keyId", Buffer.from("id"));
const cert = item("attestationCert", Buffer.from("c"));
const extension = (...within: Item[]) => item("extension", ...within);
const id = item("extensionId", Buffer.from("com.example"));
const data = item("extensionData", Buffer.alloc(0));

const read = (items: Item[], extensible?: "extensible") =>
  parseTlvStructure(encodeTlv(...items), description, extensible);

test("reads members by their names", () => {
  const object = read([name, either, cert, cert]);
  expect(object.name.toString()).toBe("abc");
  expect(object.either).toEqual({ type: "keyId", value: Buffer.from("id") });
  expect(object.many.map(String)).toEqual(["c", "c"]);
  expect(read([name, item("publicKey", Buffer.of(1)), cert]).either.type).toBe("publicKey");
});

test("accepts non-critical items after the members of an extensible object", () => {
  const unknown = { tag: 0x0e55, value: Buffer.from("whatever") };
  const object = read([name, either, cert, extension(id, data), unknown, extension(id, data)], "extensible");
  expect(object.many.map(String)).toEqual(["c"]);
  expect(() => read([name, either, cert, extension(id, data)])).toThrow("after the last member");
  expect(() => read([name, either, cert, unknown])).toThrow("after the last member");
});

describe("rejects", () => {
  test.each<[string, Item[]]>([
    ["no members", []],
    ["a missing first member", [either, cert]],
    ["a missing last member", [name, either]],
    ["members in another order", [either, name, cert]],
    ["a duplicate member", [name, name, either, cert]],
    ["two mutually exclusive members", [name, either, item("publicKey", Buffer.of(1)), cert]],
    ["a repeated member that is not adjacent", [name, either, cert, extension(id, data), cert]],
    ["a member that is too short", [item("aaid", Buffer.from("ab")), either, cert]],
    ["a member that is too long", [name, item("keyId", Buffer.alloc(5)), cert]],
    ["a repeated member that is too long", [name, either, cert, item("attestationCert", Buffer.alloc(3))]],
    ["an extension before the members", [extension(id, data), name, either, cert]],
    ["an extension among the members", [name, extension(id, data), either, cert]],
    ["an unknown item among the members", [name, { tag: 0x0e55, value: Buffer.of() }, either, cert]],
    ["a critical extension", [name, either, cert, item("extensionCritical", id, data)]],
    ["an unknown critical member", [name, either, cert, { tag: 0x2e7f, value: Buffer.of() }]],
    ["an extension without a name", [name, either, cert, extension(data)]],
    ["an extension without data", [name, either, cert, extension(id)]],
    ["an extension with a third item", [name, either, cert, extension(id, data, data)]],
    ["an extension in another order", [name, either, cert, extension(data, id)]],
    [
      "an extension whose name is too long",
      [name, either, cert, extension(item("extensionId", Buffer.alloc(33)), data)],
    ],
    ["an extension within an extension", [name, either, cert, extension(extension(id, data))]],
    ["a thousand nested extensions", [name, either, cert, nestedTlv(1000)]],
    ["ten thousand nested extensions", [name, either, cert, nestedTlv(10_000)]],
    ["a trailing byte", [name, either, cert, Buffer.of(0)]],
  ])("A75 %s", (_what, items) => {
    expect(() => read(items, "extensible")).toThrow(TlvError);
  });
});

test("any bytes are an object of this form or throw a TlvError", () => {
  const tag = fc.constantFrom(...Object.values(tags), 0x0e55, 0x2e55);
  const any = fc.array(fc.record({ tag, value: fc.uint8Array({ maxLength: 4 }) }), { maxLength: 8 });
  const some = fc.subarray([name, either, either, cert, cert, extension(id, data)]);
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(any, some), (written) => {
      try {
        const object = parseTlvStructure(encodeTlv(...written), description, "extensible");
        outcomes.add("object");
        expect(object.name).toHaveLength(3);
        expect(object.many.length).toBeGreaterThan(0);
      } catch (error) {
        outcomes.add("error");
        expect(error).toBeInstanceOf(TlvError);
      }
    }),
    { numRuns: 2000 },
  );
  expect(outcomes).toEqual(new Set(["object", "error"]));
});

import { sealData, unsealData } from "iron-session";
import { describe, expect, it } from "vitest";
import { BrokenSealError, createVault, UnknownKeyError } from "./vault.ts";

const oldKey = "an old key of the operator";
const newKey = "a new key of the operator";
const plain = Buffer.from("a secret plain text");

describe("sealed values", () => {
  it("are unsealed with the same key and context, even if they are empty", () => {
    const vault = createVault([newKey]);
    expect(vault.unseal(vault.seal(plain, "totp:1"), "totp:1")).toEqual(plain);
    expect(vault.unseal(vault.seal(Buffer.alloc(0), "totp:1"), "totp:1")).toEqual(Buffer.alloc(0));
  });

  it("differ for the same plain text and do not contain it", () => {
    const vault = createVault([newKey]);
    const [one, two] = [vault.seal(plain, "x"), vault.seal(plain, "x")];
    expect(one.equals(two)).toBe(false);
    expect(one.includes(plain)).toBe(false);
  });

  it("are not unsealed for another context", () => {
    const vault = createVault([newKey]);
    expect(() => vault.unseal(vault.seal(plain, "tenant-a:1"), "tenant-b:1")).toThrow(BrokenSealError);
  });

  it("are not unsealed if a byte was changed or the end is missing", () => {
    const vault = createVault([newKey]);
    const sealed = vault.seal(plain, "x");
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => vault.unseal(changed, "x")).toThrow();
      expect(() => vault.unseal(sealed.subarray(0, index), "x")).toThrow();
    }
  });

  it("are unsealed after a new key became the first one", () => {
    const sealed = createVault([oldKey]).seal(plain, "x");
    const rotated = createVault([newKey, oldKey]);
    expect(rotated.unseal(sealed, "x")).toEqual(plain);
    expect(() => createVault([oldKey]).unseal(rotated.seal(plain, "x"), "x")).toThrow(UnknownKeyError);
  });

  it("report the id of a key that is not configured", () => {
    const old = createVault([oldKey]);
    const [keyId] = old.keyIds;
    expect(() => createVault([newKey]).unseal(old.seal(plain, "x"), "x")).toThrow(
      expect.objectContaining({ keyId, message: expect.stringContaining(String(keyId)) }),
    );
  });

  it("cannot be created without a key", () => {
    expect(() => createVault([])).toThrow("at least one");
  });
});

describe("digests", () => {
  const [before, after] = [createVault([oldKey, newKey]), createVault([newKey, oldKey])];

  it("match their parts, whichever of the keys is first", () => {
    const stored = before.digest("code", "flow", "482913");
    expect(stored).toHaveLength(40);
    expect([before, after].map((vault) => vault.matches(stored, "code", "flow", "482913"))).toEqual([
      true,
      true,
    ]);
    expect(after.matches(stored, "code", "flow", "482914")).toBe(false);
    expect(after.matches(stored, "code", "flow4", "82913")).toBe(false);
  });

  it("match without the name of their key, as earlier versions wrote them", () => {
    const stored = before.mac("code", "482913");
    expect(after.matches(stored, "code", "482913")).toBe(true);
    expect(after.matches(stored, "code", "482914")).toBe(false);
    expect(() => after.assertKnown("digest", stored)).not.toThrow();
  });

  it("A133 of a key that is not configured are neither right nor wrong", () => {
    const stored = after.digest("code", "482913");
    const old = createVault([oldKey]);
    for (const code of ["482913", "482914"])
      expect(() => old.matches(stored, "code", code)).toThrow(UnknownKeyError);
    expect(() => old.assertKnown("digest", stored)).toThrow(UnknownKeyError);
    expect(() => old.assertKnown("sealed", after.seal(plain, "x"))).toThrow(UnknownKeyError);
    expect(() => before.assertKnown("sealed", after.seal(plain, "x"))).not.toThrow();
  });
});

describe("keyed hashes", () => {
  it("are equal for equal parts, and differ for all others", () => {
    const vault = createVault([newKey]);
    const macs = [
      vault.mac("code", "ab", "c"),
      vault.mac("code", "a", "bc"),
      vault.mac("code", "abc"),
      vault.mac("code", "ab", "c", ""),
      vault.mac("codeab", "c"),
      createVault([oldKey]).mac("code", "ab", "c"),
    ].map((mac) => mac.toString("hex"));
    expect(new Set(macs).size).toBe(macs.length);
    expect(vault.mac("code", "ab", "c").toString("hex")).toBe(macs[0]);
    expect(macs[0]).toHaveLength(64);
  });

  it("are found after a rotation of keys", () => {
    const before = createVault([oldKey]).mac("subject", "ada@example.com");
    const after = createVault([newKey, oldKey]).macs("subject", "ada@example.com");
    expect(after[0]).toEqual(createVault([newKey]).mac("subject", "ada@example.com"));
    expect(after[1]).toEqual(before);
  });
});

describe("passwords for iron-session", () => {
  const passwords = (...keys: string[]) => createVault(keys).passwords("flow");

  it("seal with the first key, and unseal with every key", async () => {
    const before = await sealData({ flow: 1 }, { password: passwords(oldKey).sealing, ttl: 60 });
    const { sealing, unsealing } = passwords(newKey, oldKey);
    expect(await unsealData(before, { password: unsealing, ttl: 60 })).toEqual({ flow: 1 });
    const after = await sealData({ flow: 2 }, { password: sealing, ttl: 60 });
    expect(await unsealData(after, { password: passwords(oldKey).unsealing, ttl: 60 })).toEqual({});
  });

  it("unseal after other keys were removed", async () => {
    const sealed = await sealData({ flow: 1 }, { password: passwords(newKey, oldKey).sealing, ttl: 60 });
    expect(await unsealData(sealed, { password: passwords(newKey).unsealing, ttl: 60 })).toEqual({ flow: 1 });
  });

  it("differ by purpose", () => {
    const vault = createVault([newKey]);
    expect(vault.passwords("flow").sealing).not.toEqual(vault.passwords("frame").sealing);
  });
});

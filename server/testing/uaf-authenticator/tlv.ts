/**
 * The TLV encoding of FIDO UAF 1.1 (Authenticator Commands, section 5; UAF Registry of Predefined Values): tag and
 * length in 16 bits each, little-endian. It can encode invalid structures.
 */

/** Tags of the assertion scheme `UAFV1TLV`. */
export const tags = {
  regAssertion: 0x3e01,
  authAssertion: 0x3e02,
  krd: 0x3e03,
  signedData: 0x3e04,
  attestationCert: 0x2e05,
  signature: 0x2e06,
  basicFull: 0x3e07,
  basicSurrogate: 0x3e08,
  ecdaa: 0x3e09,
  keyId: 0x2e09,
  finalChallengeHash: 0x2e0a,
  aaid: 0x2e0b,
  publicKey: 0x2e0c,
  counters: 0x2e0d,
  assertionInfo: 0x2e0e,
  nonce: 0x2e0f,
  transactionContentHash: 0x2e10,
  extensionCritical: 0x3e11,
  extension: 0x3e12,
  extensionId: 0x2e13,
  extensionData: 0x2e14,
} as const;

export type TagName = keyof typeof tags;

/** An item: its tag, and its content or nested items. Bytes are encoded as they are. */
export type Item = Uint8Array | { tag: number; value: Uint8Array | readonly Item[]; statedLength?: number };

/** A defect of a TLV structure, applied to each item with the tag. */
export type TlvEdit =
  | { leaveOut: TagName }
  | { repeat: TagName }
  /** Swaps two items of one level. */
  | { swap: readonly [TagName, TagName] }
  /** Inserts after the item. */
  | { after: TagName; put: Item }
  | { of: TagName; tag: number }
  | { of: TagName; value: Uint8Array }
  /** Replaces the stated length. */
  | { of: TagName; statedLength: number };

export function item(name: TagName, ...content: readonly (number | Item)[]): Item {
  const [only] = content;
  if (content.length === 1 && only instanceof Uint8Array) return { tag: tags[name], value: only };
  return {
    tag: tags[name],
    value: content.map((part) => (typeof part === "number" ? Buffer.of(part) : part)),
  };
}

export const u16 = (value: number) => Buffer.of(value & 0xff, (value >> 8) & 0xff);

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Encodes a sequence of items. */
export function encodeTlv(...items: readonly Item[]): Buffer {
  return Buffer.concat(items.map(encode));
}

function encode(one: Item): Buffer {
  if (one instanceof Uint8Array) return Buffer.from(one);
  const content = one.value instanceof Uint8Array ? one.value : encodeTlv(...one.value);
  return Buffer.concat([u16(one.tag), u16(one.statedLength ?? content.length), content]);
}

/** Applies edits in order, to the items and recursively to nested items. */
export function edited(items: readonly Item[], edits: readonly TlvEdit[]): readonly Item[] {
  return edits.reduce<readonly Item[]>(editOnce, items);
}

function editOnce(items: readonly Item[], edit: TlvEdit): readonly Item[] {
  const within = items.map((one) =>
    one instanceof Uint8Array || one.value instanceof Uint8Array
      ? one
      : { ...one, value: editOnce(one.value, edit) },
  );
  if ("swap" in edit) return swapped(within, edit.swap);
  return within.flatMap((one) => editItem(one, edit));
}

function editItem(one: Item, edit: Exclude<TlvEdit, { swap: unknown }>): readonly Item[] {
  const is = (name: TagName) => !(one instanceof Uint8Array) && one.tag === tags[name];
  if ("leaveOut" in edit) return is(edit.leaveOut) ? [] : [one];
  if ("repeat" in edit) return is(edit.repeat) ? [one, one] : [one];
  if ("after" in edit) return is(edit.after) ? [one, edit.put] : [one];
  const { of, ...change } = edit;
  return is(of) && !(one instanceof Uint8Array) ? [{ ...one, ...change }] : [one];
}

function swapped(items: readonly Item[], [left, right]: readonly [TagName, TagName]): readonly Item[] {
  const at = (name: TagName) =>
    items.findIndex((one) => !(one instanceof Uint8Array) && one.tag === tags[name]);
  const [one, other] = [items[at(left)], items[at(right)]];
  if (!one || !other) return items;
  return items.with(at(left), other).with(at(right), one);
}

/** Encodes nested composite items, the innermost empty. At most 16,383 levels fit a length. */
export function nestedTlv(levels: number, name: TagName = "extension"): Buffer {
  const header = (level: number) => Buffer.concat([u16(tags[name]), u16(4 * (levels - 1 - level))]);
  return Buffer.concat(Array.from({ length: levels }, (_, level) => header(level)));
}

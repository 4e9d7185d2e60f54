import { isCritical, tags } from "./tags.ts";
import { parseTlv, TlvError, type TlvItem } from "./tlv.ts";

/** Description of one member of a structure. */
export interface Member<Value> {
  /** Accepted tags. */
  tags: readonly number[];
  /** The greatest number of its items; the least is one. */
  most: number;
  /** @throws TlvError if an item does not match the description */
  read(items: readonly TlvItem[]): Value;
}

/** The members of a structure by name, in their order. */
type Members = Readonly<Record<string, Member<unknown>>>;

/** What is read of a description. */
export type ValueOf<Described> = Described extends Member<infer Value> ? Value : never;

type ParsedStructure<Described extends Members> = { [Name in keyof Described]: ValueOf<Described[Name]> };

/** A length in bytes, or its range. */
type Length = number | readonly [least: number, most: number];

/** Describes a member that occurs exactly once. */
const single = <Value>(tag: number, read: (item: TlvItem) => Value): Member<Value> => ({
  tags: [tag],
  most: 1,
  read: (items) => read(items[0] as TlvItem),
});

/** Describes a member of some bytes, which `read` converts. */
export function field<Value>(tag: number, length: Length, read: (value: Buffer) => Value): Member<Value> {
  const [least, most] = typeof length === "number" ? [length, length] : length;
  return single(tag, ({ value }) => {
    if (value.length < least || value.length > most) throw new TlvError("a member has a length out of range");
    return read(value);
  });
}

/** Describes a member of some bytes; by default of any length. */
export const bytes = (tag: number, length: Length = [0, 0xffff]) => field(tag, length, (value) => value);

/** Describes a member that is a structure itself. */
export const structure = <Described extends Members>(tag: number, described: Described) =>
  single(tag, ({ value }) => parseTlvStructure(value, described));

/** Describes an extensible structure that a signature covers: its members, and the signed `bytes`. */
export const signedStructure = <Described extends Members>(tag: number, described: Described) =>
  single(tag, ({ value, whole }) => ({
    bytes: whole,
    value: parseTlvStructure(value, described, "extensible"),
  }));

/** Describes a member that occurs at least once. */
export const oneOrMore = <Value>({ tags, read }: Member<Value>): Member<Value[]> => ({
  tags,
  most: Number.POSITIVE_INFINITY,
  read: (items) => items.map((item) => read([item])),
});

type Choice<Kinds extends Members> = {
  [Type in keyof Kinds]: { type: Type; value: ValueOf<Kinds[Type]> };
}[keyof Kinds];

/** Describes a member of several kinds, which differ in their tags. */
export function oneOf<Kinds extends Members>(kinds: Kinds): Member<Choice<Kinds>> {
  const byTag = new Map(
    Object.entries(kinds).flatMap(([type, kind]) => kind.tags.map((tag) => [tag, { type, kind }] as const)),
  );
  return {
    tags: [...byTag.keys()],
    most: 1,
    read(items) {
      const chosen = byTag.get(items[0]?.tag ?? 0);
      return { type: chosen?.type, value: chosen?.kind.read(items) } as Choice<Kinds>;
    },
  };
}

/** The structure of an extension. */
const extension = { id: bytes(tags.EXTENSION_ID, [1, 32]), data: bytes(tags.EXTENSION_DATA) };

/**
 * Parses a structure: exactly the described members, in their order, with permitted lengths.
 *
 * @param value content of the structure, without its own tag and length
 * @param extensible whether non-critical extensions and unknown non-critical tags may follow
 * @throws TlvError if the structure does not match the description
 */
export function parseTlvStructure<Described extends Members>(
  value: Buffer,
  description: Described,
  extensible: "extensible" | "closed" = "closed",
): ParsedStructure<Described> {
  const items = parseTlv(value);
  const found: Record<string, unknown> = {};
  for (const [name, { tags, most, read }] of Object.entries(description)) {
    const own = takeWhile(items, ({ tag }) => tags.includes(tag), most);
    if (own.length === 0) throw new TlvError(`${name} is missing or out of order`);
    found[name] = read(own);
  }
  for (const item of items) {
    if (extensible === "closed") throw new TlvError("unexpected data after the last member");
    skipUnknown(item);
  }
  return found as ParsedStructure<Described>;
}

/** Removes the leading items that match, at most `most`, and returns them. */
function takeWhile(items: TlvItem[], belongs: (item: TlvItem) => boolean, most: number): TlvItem[] {
  const end = items.findIndex((item, at) => at >= most || !belongs(item));
  return items.splice(0, end === -1 ? items.length : end);
}

/** @throws TlvError if the item must not be skipped */
function skipUnknown({ tag, value }: TlvItem): void {
  if (tag === tags.EXTENSION_NON_CRITICAL) parseTlvStructure(value, extension);
  else if (isCritical(tag)) throw new TlvError("unknown critical extension");
}

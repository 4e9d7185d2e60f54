import { isCritical, tags } from "./tags.ts";
import { parseTlv, TlvError, type TlvItem } from "./tlv.ts";

/** Description of one member of a structure. */
interface Member {
  /** Accepted tags. */
  tags: readonly number[];
  count: "one" | "several";
  /** Range of the value's length, in bytes. */
  length: readonly [least: number, most: number];
}

/** The members of a structure by name, in their order. */
type StructureDescription = Readonly<Record<string, Member>>;

type ParsedStructure<Described extends StructureDescription> = {
  [Name in keyof Described]: Described[Name]["count"] extends "one" ? TlvItem : readonly TlvItem[];
};

type Length = number | readonly [least: number, most: number];

/** Describes a member that occurs exactly once. */
export const exactlyOne = (tag: number | readonly number[], length: Length) => member("one", tag, length);

/** Describes a member that occurs at least once. */
export const oneOrMore = (tag: number, length: Length) => member("several", tag, length);

function member<Count extends Member["count"]>(
  count: Count,
  tag: number | readonly number[],
  length: Length,
) {
  return {
    count,
    tags: typeof tag === "number" ? [tag] : tag,
    length: typeof length === "number" ? ([length, length] as const) : length,
  };
}

/** The structure of an extension. */
const extension = {
  id: exactlyOne(tags.EXTENSION_ID, [1, 32]),
  data: exactlyOne(tags.EXTENSION_DATA, [0, 0xffff]),
};

/**
 * Parses a structure: exactly the described members, in their order, with permitted lengths.
 *
 * @param value content of the structure, without its own tag and length
 * @param extensible whether non-critical extensions and unknown non-critical tags may follow
 * @throws TlvError if the structure does not match the description
 */
export function parseTlvStructure<Described extends StructureDescription>(
  value: Buffer,
  description: Described,
  extensible: "extensible" | "closed" = "closed",
): ParsedStructure<Described> {
  const items = parseTlv(value);
  const read: Record<string, TlvItem | TlvItem[]> = {};
  for (const [name, { tags, count, length }] of Object.entries(description)) {
    const found = takeWhile(items, ({ tag }) => tags.includes(tag), count === "one" ? 1 : items.length);
    const [first] = found;
    if (!first) throw new TlvError(`${name} is missing or out of order`);
    const [least, most] = length;
    if (found.some(({ value }) => value.length < least || value.length > most))
      throw new TlvError(`${name} has a length out of range`);
    read[name] = count === "one" ? first : found;
  }
  for (const item of items) {
    if (extensible === "closed") throw new TlvError("unexpected data after the last member");
    skipUnknown(item);
  }
  return read as ParsedStructure<Described>;
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

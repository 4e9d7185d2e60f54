import { isCritical, tags } from "./tags.ts";
import { TlvError, type TlvItem, tlvItems } from "./tlv.ts";

/** What a member of an object may be. */
interface Member {
  /** The tags it may have. */
  tags: readonly number[];
  /** Whether there is exactly one, or one and more after it. */
  count: "one" | "several";
  /** Fewest and most bytes of its value. */
  length: readonly [least: number, most: number];
}

/** Members of an object by their names here, in the order in which they stand. */
type Description = Readonly<Record<string, Member>>;

type Read<Described extends Description> = {
  [Name in keyof Described]: Described[Name]["count"] extends "one" ? TlvItem : readonly TlvItem[];
};

type Length = number | readonly [least: number, most: number];

/** A member that stands once. */
export const one = (tag: number | readonly number[], length: Length) => member("one", tag, length);

/** A member that stands once at least. */
export const several = (tag: number, length: Length) => member("several", tag, length);

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

/** What an extension consists of; which one it is does not matter where none is known. */
const extension = { id: one(tags.EXTENSION_ID, [1, 32]), data: one(tags.EXTENSION_DATA, [0, 0xffff]) };

/**
 * Reads the members of an object: each that is described, in the order of the description, with a length that it may
 * have, and no other.
 *
 * @param value what lies between the object's head and its end
 * @param extensible whether extensions may follow, and tags that nobody knows and that may be passed over
 * @throws TlvError for anything else
 */
export function readObject<Described extends Description>(
  value: Buffer,
  description: Described,
  extensible: "extensible" | "closed" = "closed",
): Read<Described> {
  const items = tlvItems(value);
  const read: Record<string, TlvItem | TlvItem[]> = {};
  for (const [name, { tags, count, length }] of Object.entries(description)) {
    const found = takeWhile(items, ({ tag }) => tags.includes(tag), count === "one" ? 1 : items.length);
    const [first] = found;
    if (!first) throw new TlvError(`${name} is missing, or stands elsewhere`);
    const [least, most] = length;
    if (found.some(({ value }) => value.length < least || value.length > most))
      throw new TlvError(`${name} has a length that it cannot have`);
    read[name] = count === "one" ? first : found;
  }
  for (const item of items) {
    if (extensible === "closed") throw new TlvError("something follows the last member");
    passOver(item);
  }
  return read as Read<Described>;
}

/** Takes items off the front of a list, as many as there are of them and at most so many. */
function takeWhile(items: TlvItem[], belongs: (item: TlvItem) => boolean, most: number): TlvItem[] {
  const end = items.findIndex((item, at) => at >= most || !belongs(item));
  return items.splice(0, end === -1 ? items.length : end);
}

/** @throws TlvError for what may not be passed over */
function passOver({ tag, value }: TlvItem): void {
  if (tag === tags.EXTENSION_NON_CRITICAL) readObject(value, extension);
  else if (isCritical(tag)) throw new TlvError("a critical extension is not known");
}

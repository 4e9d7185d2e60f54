import { z } from "zod";

/** Schemas of parameters and members that several operations take. */

/** A UUID of any version, in lower case after parsing: the form in which PostgreSQL writes it. */
export const uuid = () =>
  z
    .guid()
    .meta({ format: "uuid" })
    .transform((text) => text.toLowerCase());

/** A time of RFC 3339 with an offset, parsed to a `Date`. Its year in UTC is one that PostgreSQL can store. */
export const instant = () =>
  z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text))
    .refine(
      (time) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999,
      "must be a time such as 2026-01-31T12:00:00Z",
    );

const shownSchemas = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Makes a schema that the document shows as another one, where the handler judges what the document describes.
 *
 * @param schema receives the value; not described or wrapped before
 */
export function documentedAs<Schema extends z.ZodType>(schema: Schema, shown: z.ZodType): Schema {
  const made = schema.clone() as Schema;
  shownSchemas.set(made, shown);
  return made;
}

/** The schema that the document shows; undefined if it is the schema itself. */
export const shownSchema = (schema: z.core.$ZodType): z.ZodType | undefined => shownSchemas.get(schema);

/**
 * Makes the schema that the document shows of a body in which null counts as absent: its optional members, and those of
 * its objects, may be null.
 */
export function acceptingNull(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  const members = Object.entries(schema.shape).map(([name, field]) => {
    const member = field as z.ZodType;
    if (member._zod.optin !== "optional") return [name, member];
    const inner = "unwrap" in member ? (member as z.ZodOptional<z.ZodType>).unwrap() : member;
    return [name, (inner instanceof z.ZodObject ? acceptingNull(inner) : inner).nullish()];
  });
  return z.object(Object.fromEntries(members));
}

const csvLists = new WeakSet<z.core.$ZodType>();

/** A list in a query whose items are repeated or separated by commas: `type=a&type=b`, `type=a,b`. */
export function csv<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const list = z.array(item).max(256);
  csvLists.add(list);
  return list;
}

/** Whether commas separate the items of a list. */
export const isCsv = (schema: z.core.$ZodType): boolean => csvLists.has(schema);

/** `page` and `per_page` of a list in pages. */
export const pageQuery = {
  page: z.int().min(1).max(1_000_000).default(1).describe("Page of the list, from 1."),
  per_page: z.int().min(1).max(100).default(20).describe("Items on a page."),
};

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

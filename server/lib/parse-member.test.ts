import { expect, test } from "vitest";
import { z } from "zod";
import { parseMember } from "./parse-member.ts";

const schema = z.object({
  name: z.string().max(3).optional(),
  size: z.int().min(0).max(9).optional(),
  kind: z.enum(["a", "b"]).optional(),
  list: z
    .array(z.object({ flag: z.boolean() }))
    .min(1)
    .optional(),
  map: z.record(z.string(), z.unknown()).optional(),
  own: z.string("has a message of its own").optional(),
});

test.each([
  [undefined, "the body is missing"],
  [[], "the body must be an object"],
  [{ name: 1 }, "name must be a string"],
  [{ name: "four" }, "name is too long"],
  [{ size: "1" }, "size must be a number"],
  [{ size: 1.5 }, "size must be an integer"],
  [{ size: 10 }, "size is out of range"],
  [{ size: -1 }, "size is out of range"],
  [{ kind: "c" }, "kind must be a or b"],
  [{ list: {} }, "list must be a list"],
  [{ list: [] }, "list is too short"],
  [{ list: [{ flag: true }, {}] }, "list[1].flag is missing"],
  [{ list: [{ flag: 1 }] }, "list[0].flag must be true or false"],
  [{ map: [] }, "map must be an object"],
  [{ own: 1 }, "own has a message of its own"],
])("names the invalid member of %j", (value, details) => {
  expect(parseMember(schema, value)).toEqual({ ok: false, details });
});

test.each([
  [{ id: "1", extra: true }, "id must be a UUID"],
  [{ url: "callback" }, "url must be an absolute URL"],
  [{ at: "yesterday" }, "at must be a time such as 2026-01-31T12:00:00Z"],
  [{ extra: true }, "the body has the unknown member extra"],
  [{ [`x${"y".repeat(200)}`]: true }, `the body has the unknown member x${"y".repeat(99)}…`],
])("names the wrong format or unknown member of %j", (value, details) => {
  const strict = z.strictObject({
    id: z.guid().optional(),
    url: z.url().optional(),
    at: z.iso.datetime().optional(),
  });
  expect(parseMember(strict, value)).toEqual({ ok: false, details });
});

test("returns a valid value", () => {
  expect(parseMember(schema, { size: 9, other: 1 })).toEqual({ ok: true, value: { size: 9 } });
});

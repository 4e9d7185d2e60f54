import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { userHandleOf, userHandlesOf, userIdsOf } from "./user-handles.ts";

const anyText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });

test("decodes a handle to its user first", () => {
  fc.assert(
    fc.property(anyText, (userId) => {
      expect(userIdsOf(userHandleOf(userId))[0]).toBe(userId);
    }),
  );
});

test("decodes every handle of a user to that user", () => {
  const userId = randomUUID();
  const handles = userHandlesOf(userId);
  expect(handles).toHaveLength(2);
  for (const handle of handles) expect(userIdsOf(handle)).toContain(userId);
  fc.assert(
    fc.property(anyText, (text) => userHandlesOf(text).every((handle) => userIdsOf(handle).includes(text))),
  );
});

test("decodes the text of an upper-case UUID as it is, and its bytes to lower case", () => {
  const userId = randomUUID().toUpperCase();
  const [text = "", bytes = ""] = userHandlesOf(userId);
  expect(userIdsOf(text)).toEqual([userId]);
  expect(userIdsOf(bytes)).toContain(userId.toLowerCase());
});

test("decodes sixteen bytes that are not UTF-8 as a UUID, and other such bytes to no user", () => {
  expect(userIdsOf(Buffer.alloc(16, 0xff).toString("base64url"))).toEqual([
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ]);
  expect(userIdsOf("_w")).toEqual([]);
});

test("keeps a byte order mark", () => {
  expect(userIdsOf(userHandleOf("\uFEFFada"))).toEqual(["\uFEFFada"]);
});

import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { userHandleOf, userHandlesOf, userIdsOf } from "./user-handles.ts";

const anyText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });

test("a handle means the user it was made of, before anybody else", () => {
  fc.assert(fc.property(anyText, (userId) => userIdsOf(userHandleOf(userId))[0] === userId));
});

test("each handle of a user means them", () => {
  const userId = randomUUID();
  const handles = userHandlesOf(userId);
  expect(handles).toHaveLength(2);
  for (const handle of handles) expect(userIdsOf(handle)).toContain(userId);
  fc.assert(
    fc.property(anyText, (text) => userHandlesOf(text).every((handle) => userIdsOf(handle).includes(text))),
  );
});

test("a UUID in capital letters is known by its text, and its bytes by that in small ones", () => {
  const userId = randomUUID().toUpperCase();
  const [text = "", bytes = ""] = userHandlesOf(userId);
  expect(userIdsOf(text)).toEqual([userId]);
  expect(userIdsOf(bytes)).toContain(userId.toLowerCase());
});

test("sixteen bytes that are no text are a UUID, and other bytes are nobody", () => {
  expect(userIdsOf(Buffer.alloc(16, 0xff).toString("base64url"))).toEqual([
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ]);
  expect(userIdsOf("_w")).toEqual([]);
});

test("a byte order mark belongs to an id", () => {
  expect(userIdsOf(userHandleOf("\uFEFFada"))).toEqual(["\uFEFFada"]);
});

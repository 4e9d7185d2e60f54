import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { isCanonicalUuid, isUuid } from "./uuid.ts";

const id = randomUUID();

test.each([
  [id, true, true],
  ["00000000-0000-0000-0000-000000000000", true, true],
  ["F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", true, false],
  [`{${id}}`, false, false],
  [` ${id}`, false, false],
  [`${id}\n`, false, false],
  [id.replaceAll("-", ""), false, false],
  [id.replace(/^./, "g"), false, false],
  // Lower-casing turns the Kelvin sign into a letter of ASCII, which is none of a UUID's.
  [id.replace(/^./, "\u212a"), false, false],
  ["", false, false],
])("%j: UUID %j, canonical %j", (text, uuid, canonical) => {
  expect([isUuid(text), isCanonicalUuid(text)]).toEqual([uuid, canonical]);
});

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
  // The Kelvin sign becomes the ASCII letter k in lower case.
  [id.replace(/^./, "\u212a"), false, false],
  ["", false, false],
])("checks %j: a UUID %j, canonical %j", (text, uuid, canonical) => {
  expect([isUuid(text), isCanonicalUuid(text)]).toEqual([uuid, canonical]);
});

import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { visibleEnds, visibleLine, visiblePieces } from "./visible-text.ts";

test.each([
  ["Bergmann & Söhne, 東京, القاهرة, 1 000,00 €", "Bergmann & Söhne, 東京, القاهرة, 1 000,00 €"],
  ["a\u202eb", "a‹U+202E›b"],
  ["a\u2066b\u2069", "a‹U+2066›b‹U+2069›"],
  ["pay\u200bpal", "pay‹U+200B›pal"],
  ["\ufeffx\u00ad", "‹U+FEFF›x‹U+00AD›"],
  ["\u001b[31mred", "‹U+001B›[31mred"],
  ["\u009b31m\u007f", "‹U+009B›31m‹U+007F›"],
  ["a\r\nb\tc\0", "a‹U+000D›‹U+000A›b‹U+0009›c‹U+0000›"],
  ["\u3164\u115f", "‹U+3164›‹U+115F›"],
  ["\u{e0041}\ue000", "‹U+E0041›‹U+E000›"],
  ["\u2028", "‹U+2028›"],
  ["a\u2800b\ufffc", "a‹U+2800›b‹U+FFFC›"],
  ["👩‍👩‍👧 ❤️ 1️⃣ 👍🏽", "👩‍👩‍👧 ❤️ 1️⃣ 👍🏽"],
  ["a\u200db\ufe0f", "a‹U+200D›b‹U+FE0F›"],
  [`e${"\u0301".repeat(6)}`, `e${"\u0301".repeat(4)}‹U+0301›‹U+0301›`],
  ["ไม่ คิดถึง ที่นี่", "ไม่ คิดถึง ที่นี่"],
])("A102 shows the invisible characters of %j", (text, seen) => {
  expect(visibleLine(text)).toBe(seen);
});

test.each([
  ["amount", [{ text: "amount" }]],
  ["amount ", [{ text: "amount" }, { hidden: "U+0020" }]],
  ["\u00a0\u3000a b", [{ hidden: "U+00A0" }, { hidden: "U+3000" }, { text: "a b" }]],
  ["  ", [{ hidden: "U+0020" }, { hidden: "U+0020" }]],
  ["", []],
])("A102 shows the spaces at the ends of %j", (text, pieces) => {
  expect(visibleEnds(text)).toEqual(pieces);
});

test("omits nothing and leaves no bidirectional mark in visible text", async () => {
  await assert(
    property(string({ unit: "binary" }), (text) => {
      const pieces = visiblePieces(text);
      const back = pieces.map((piece) =>
        "text" in piece ? piece.text : String.fromCodePoint(Number.parseInt(piece.hidden.slice(2), 16)),
      );
      expect(back.join("")).toBe(text);
      for (const piece of pieces)
        if ("text" in piece) expect(piece.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});

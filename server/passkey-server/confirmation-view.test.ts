import { expect, test } from "vitest";
import { dataView } from "./confirmation-view.ts";

const view = (canonical: string, language = "en") => dataView("order-1", canonical, language);

test("shows every member in the order that is signed", () => {
  const { rest, hides } = view('{"10":true,"9":null,"a":[1e-7,"x",{}],"b":{"c":""}}');
  expect(rest).toEqual({
    kind: "object",
    members: [
      { name: [{ text: "10" }], value: { kind: "boolean", value: true } },
      { name: [{ text: "9" }], value: { kind: "nothing" } },
      {
        name: [{ text: "a" }],
        value: {
          kind: "list",
          items: [
            { kind: "number", text: "1e-7" },
            { kind: "text", pieces: [{ text: "x" }] },
            { kind: "object", members: [] },
          ],
        },
      },
      {
        name: [{ text: "b" }],
        value: { kind: "object", members: [{ name: [{ text: "c" }], value: { kind: "text", pieces: [] } }] },
      },
    ],
  });
  expect(hides).toBe(false);
});

test.each([
  ['{"a":"x\u202ey"}', true],
  ['{"a\u200b":1}', true],
  ['{"a":["x",{"b":"\\u0007"}]}', true],
  ['{"a":"two\\nlines"}', false],
  ['{"a":"Grüße, 東京 👩‍👧"}', false],
  ['{"amount":"1","amount ":"1000"}', true],
  ['{"a":" x"}', true],
  ['{"a":"x\u00a0"}', true],
  ['{"a":"1 000,00 €"}', false],
])("A102 reports whether %j contains invisible characters: %j", (canonical, expected) => {
  expect(view(canonical).hides).toBe(expected);
});

test("A102 reports invisible characters in the id of the transaction", () => {
  const { transactionId, hides } = dataView("order-1\u200b ", "{}", "en");
  expect(transactionId).toEqual([{ text: "order-1" }, { hidden: "U+200B" }, { hidden: "U+0020" }]);
  expect(hides).toBe(true);
});

test("keeps the exact text that is hashed", () => {
  const canonical = '{"a":"x\u202ey","b":"\\n"}';
  const text = view(canonical)
    .exact.map((piece) =>
      "text" in piece ? piece.text : String.fromCodePoint(Number.parseInt(piece.hidden.slice(2), 16)),
    )
    .join("");
  expect(text).toBe(canonical);
});

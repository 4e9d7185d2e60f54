import { expect, test } from "vitest";
import { dataView } from "./confirmation-view.ts";

test("shows every member, in the order that is signed", () => {
  const { data, hides } = dataView('{"10":true,"9":null,"a":[1e-7,"x",{}],"b":{"c":""}}');
  expect(data).toEqual({
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
])("A102 says whether %j hides anything: %j", (canonical, expected) => {
  expect(dataView(canonical).hides).toBe(expected);
});

test("the exact text is the one that is hashed", () => {
  const canonical = '{"a":"x\u202ey","b":"\\n"}';
  const text = dataView(canonical)
    .exact.map((piece) =>
      "text" in piece ? piece.text : String.fromCodePoint(Number.parseInt(piece.hidden.slice(2), 16)),
    )
    .join("");
  expect(text).toBe(canonical);
});

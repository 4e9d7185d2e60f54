import { expect, test } from "vitest";
import { parseActionBody, parseActionParameter } from "./request.ts";

const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const asked = (query: string) => parseActionParameter(new URLSearchParams(query));

test("no action, or an empty one, asks for a new flow", () => {
  expect(asked("")).toEqual({ kind: "start" });
  expect(asked("action=")).toEqual({ kind: "start" });
  expect(asked("lang=de")).toEqual({ kind: "start" });
});

test("an action names a flow, with the @ encoded or not", () => {
  const expected = { kind: "action", action: "verify_passcode", flowId: id };
  expect(asked(`action=verify_passcode%40${id}`)).toEqual(expected);
  expect(asked(`action=verify_passcode@${id.toUpperCase()}`)).toEqual(expected);
});

test.each([
  "x",
  "x@",
  `@${id}`,
  "a@b@c",
  `back@${id}@`,
  `back@@${id}`,
  `back%40${id}%00`,
  "%00",
  "%zz",
  `ba%20ck@${id}`,
  ` back@${id}`,
  `back@${id}%0a`,
  `back@{${id}}`,
  `back@${id.replaceAll("-", "")}`,
  `${"x".repeat(65)}@${id}`,
  "x".repeat(10_000),
  `back@${id}&action=back@${id}`,
  `back@${id}&action=`,
  `&action=`,
])("A34 a malformed action never starts a flow: %.40s", (value) => {
  expect(asked(`action=${value}`)).toEqual({ kind: "malformed" });
});

test("the body holds a token and input", () => {
  const input = { code: "123456", extra: null };
  expect(parseActionBody({ csrf_token: "t", input_data: input })).toEqual({ token: "t", input });
});

test("input that is absent or null is empty", () => {
  expect(parseActionBody({ csrf_token: "t" })).toEqual({ token: "t", input: {} });
  expect(parseActionBody({ csrf_token: "t", input_data: null })).toEqual({ token: "t", input: {} });
});

test.each([[undefined], [null], [""], [["t"]], [1], [true], [{ t: 1 }]])(
  "A28 a csrf_token of %j fits no flow",
  (csrf_token) => {
    expect(parseActionBody({ csrf_token, input_data: {} })).toEqual({ token: "", input: {} });
  },
);

test.each([
  [{ csrf_token: "t", input_data: {}, action: "x" }],
  [{ csrf_token: "t", constructor: 1 }],
  [{ csrf_token: "t", input_data: [] }],
  [{ csrf_token: "t", input_data: "a" }],
  [{ csrf_token: "t", input_data: 1 }],
])("A92 a body of %j is refused", (body) => {
  expect(parseActionBody(body)).toBeNull();
});

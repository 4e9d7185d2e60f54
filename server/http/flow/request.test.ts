import { expect, test } from "vitest";
import { parseActionBody, parseFlowParameters } from "./request.ts";

const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const asked = (query: string) => parseFlowParameters(new URLSearchParams(query), "login");

test("parses a missing or empty action as a start", () => {
  expect(asked("")).toEqual({ kind: "start" });
  expect(asked("action=")).toEqual({ kind: "start" });
  expect(asked("lang=de")).toEqual({ kind: "start" });
});

// RFC 7636, appendix B
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

test("parses the code challenge of a start, and of nothing else", () => {
  expect(asked(`code_challenge=${challenge}`)).toEqual({ kind: "start", codeChallenge: challenge });
  expect(asked(`code_challenge=${challenge}&code_challenge_method=S256`)).toMatchObject({ kind: "start" });
  expect(asked(`action=back@${id}&code_challenge=x`)).toMatchObject({ kind: "action" });
  expect(parseFlowParameters(new URLSearchParams({ code_challenge: challenge }), "profile")).toEqual({
    kind: "start",
  });
});

test.each([
  "code_challenge=",
  `code_challenge=${challenge.slice(1)}`,
  `code_challenge=${challenge}x`,
  `code_challenge=${challenge.replace("-", "%2B")}`,
  `code_challenge=${challenge}&code_challenge=${challenge}`,
  `code_challenge=${challenge}&code_challenge_method=plain`,
  `code_challenge=${challenge}&code_challenge_method=S256&code_challenge_method=plain`,
])("A47 rejects a malformed code challenge: %s", (query) => {
  expect(asked(query)).toEqual({ kind: "malformed" });
});

test("parses an action and its flow, with the @ encoded or not", () => {
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
])("A34 rejects a malformed action: %.40s", (value) => {
  expect(asked(`action=${value}`)).toEqual({ kind: "malformed" });
});

test("parses a token and input", () => {
  const input = { code: "123456", extra: null };
  expect(parseActionBody({ csrf_token: "t", input_data: input })).toEqual({ token: "t", input });
});

test("parses absent or null input as empty", () => {
  expect(parseActionBody({ csrf_token: "t" })).toEqual({ token: "t", input: {} });
  expect(parseActionBody({ csrf_token: "t", input_data: null })).toEqual({ token: "t", input: {} });
});

test.each([[undefined], [null], [""], [["t"]], [1], [true], [{ t: 1 }]])(
  "A28 parses a csrf_token of %j as the empty token",
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
])("A92 rejects the body %j", (body) => {
  expect(parseActionBody(body)).toBeNull();
});

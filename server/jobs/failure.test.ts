import { expect, test } from "vitest";
import { describeFailure } from "./failure.ts";

test("an error of the system keeps its code and message", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:25"), { code: "ECONNREFUSED" });
  expect(describeFailure(error)).toEqual({
    name: "Error",
    code: "ECONNREFUSED",
    message: "connect ECONNREFUSED 127.0.0.1:25",
  });
});

test("A117 what a mail server answered is kept as a number, not in its words", () => {
  const error = Object.assign(new Error("Message failed: 554 spam: 482913 is your code"), {
    code: "EMESSAGE",
    response: "554 spam: 482913 is your code",
    responseCode: 554,
    command: "RCPT TO:<anna@example.com>",
  });
  expect(describeFailure(error)).toEqual({
    name: "Error",
    code: "EMESSAGE",
    responseCode: 554,
    command: "RCPT",
  });
});

test("A110 an error nobody foresaw keeps its place and loses its message", () => {
  const failure = describeFailure(new TypeError("Failed query: insert\nparams: 482913"));
  expect(failure.name).toBe("TypeError");
  expect(failure.stack).toContain("failure.test.ts");
  expect(JSON.stringify(failure)).not.toContain("482913");
});

test("what is thrown and no error keeps its type alone", () => {
  expect(describeFailure("482913")).toEqual({ name: "string" });
});

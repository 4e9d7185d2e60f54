import { expect, test } from "vitest";
import { describeFailure } from "./failure.ts";

test("keeps code and message of a system error", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:25"), { code: "ECONNREFUSED" });
  expect(describeFailure(error)).toEqual({
    name: "Error",
    code: "ECONNREFUSED",
    message: "connect ECONNREFUSED 127.0.0.1:25",
  });
});

test("A117 keeps the reply code of a mail server, not its text", () => {
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

test("A110 keeps the stack of an unexpected error, not its message", () => {
  const failure = describeFailure(new TypeError("Failed query: insert\nparams: 482913"));
  expect(failure.name).toBe("TypeError");
  expect(failure.stack).toContain("failure.test.ts");
  expect(JSON.stringify(failure)).not.toContain("482913");
});

test("keeps only the type of a thrown value that is not an error", () => {
  expect(describeFailure("482913")).toEqual({ name: "string" });
});

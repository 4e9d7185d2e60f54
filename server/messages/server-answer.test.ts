import { expect, test } from "vitest";
import { cleanAnswer } from "./server-answer.ts";

test.each([
  ["250 2.0.0 Ok: queued as 4bXyZ1234", "250 2.0.0 Ok: queued as 4bXyZ1234"],
  ["250 OK id=1tF3Rk-0001aB-2C", "250 OK id=1tF3Rk-0001aB-2C"],
  ["250 2.1.5 <ada@example.com> accepted", "250 2.1.5 <…@…> accepted"],
  ["250-first\r\n250 second\u001b[31m\u202e", "250-first 250 second [31m"],
  ["250 your code is 482913, and 482913", "250 your code is …, and …"],
  ["", ""],
])("A161 keeps %j as %j", (answer, cleaned) => {
  expect(cleanAnswer(answer, ["482913"])).toBe(cleaned);
});

test("A161 keeps 200 characters of an endless answer", () => {
  expect(cleanAnswer(`250 ${"x".repeat(100_000)}`)).toHaveLength(200);
  expect(cleanAnswer(`250 ${"@".repeat(100_000)}`).length).toBeLessThanOrEqual(200);
});

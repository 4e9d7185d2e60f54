import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerBody, isUserId, parseInput, renameBody, requestBody } from "./request-input.ts";

const name = fc.constantFrom(
  "operation",
  "userId",
  "username",
  "displayName",
  "transaction",
  "clientData",
  "deviceIds",
  "isSecondFactorOnly",
  "uafResponse",
  "deviceKeyInfo",
  "newName",
  "__proto__",
  "constructor",
);
const value = fc.oneof(
  fc.constantFrom("REG", "AUTH", "DEREG", "", " ", "\0", "\ud800", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.jsonValue(),
  fc.array(fc.uuid()),
  fc.dictionary(fc.constantFrom("remoteAddress", "userAgent", "pushToken", "keyName"), fc.jsonValue()),
);
const members = fc.dictionary(name, value, { maxKeys: 3 });
/** Valid for every reader, but for the members that are replaced. */
const almostValid = members.map((replaced) => ({
  operation: "AUTH",
  userId: "ada",
  username: "ada",
  uafResponse: "[]",
  newName: "Phone",
  ...replaced,
}));
const body = fc.oneof(fc.jsonValue(), fc.dictionary(name, value), almostValid);

/** All strings in a value. */
function textsOf(read: unknown): string[] {
  if (typeof read === "string") return [read];
  return typeof read === "object" && read !== null ? Object.values(read).flatMap(textsOf) : [];
}

describe("any body", () => {
  test.each([
    ["a request", requestBody],
    ["an answer", answerBody],
    ["a name", renameBody],
  ])("as %s is rejected with one sentence, or can be stored", (_what, schema) => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(body, (sent) => {
        const given = parseInput<unknown>(schema, sent);
        verdicts.add(given.ok);
        if (!given.ok) expect(given.details).toMatch(/^[^\n\0]{3,200}$/);
        else {
          // The answer itself is verified, not stored.
          const { uafResponse, ...kept } = given.value as Record<string, unknown>;
          for (const text of textsOf(kept)) expect(text.isWellFormed() && !text.includes("\0")).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(verdicts).toEqual(new Set([true, false]));
  });

  test("is accepted unchanged as a valid request", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (userId) => {
        fc.pre(userId.trim() !== "" && !userId.includes("\0"));
        const right = { operation: "REG", userId, username: "u" };
        expect(parseInput(requestBody, { ...right, unknown: 1, displayName: null })).toEqual({
          ok: true,
          value: right,
        });
        expect(isUserId(userId)).toBe(true);
      }),
    );
  });
});

test("a transaction text must not contain control or bidirectional characters", () => {
  const request = (transaction: string) =>
    parseInput(requestBody, { operation: "AUTH", userId: "ada", username: "ada", transaction });
  for (const character of [
    "\n",
    "\t",
    "\u0000",
    "\u007f",
    "\u0085",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
  ])
    expect(request(`Pay 10${character}0 EUR`), JSON.stringify(character)).toMatchObject({ ok: false });
  for (const text of ["Pay 100 EUR to Zoë’s café", "שלמו 100", "ادفع ١٠٠", "👩‍💻 100 €"])
    expect(request(text), text).toMatchObject({ ok: true });
});

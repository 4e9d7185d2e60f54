import { expect, describe as group, test } from "vitest";
import {
  all,
  always,
  any,
  type Condition,
  circumstance,
  describe,
  given,
  holds,
  named,
  namedIn,
  not,
  reasonsOf,
} from "./condition.ts";

interface Subject {
  a: boolean;
  b: boolean;
  c: boolean;
}

const leaf = (name: keyof Subject) =>
  circumstance<Subject>(name, (subject) => subject[name], {
    holds: `${name} is so`,
    fails: `${name} is not so`,
  });

const [a, b, c] = [leaf("a"), leaf("b"), leaf("c")];

const subjects: Subject[] = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  a: (bits & 1) > 0,
  b: (bits & 2) > 0,
  c: (bits & 4) > 0,
}));

const sentences = (condition: Condition<Subject>, subject: Subject) =>
  reasonsOf(condition, subject).map(({ sentence }) => sentence);

group("what has decided a condition", () => {
  test("is each part that fails, where all have to hold", () => {
    expect(sentences(all(a, b, c), { a: true, b: false, c: false })).toEqual([
      "B is not so.",
      "C is not so.",
    ]);
  });

  test("is every part, where one has to hold", () => {
    expect(sentences(any(a, b), { a: false, b: false, c: true })).toEqual(["A is not so.", "B is not so."]);
  });

  test("is what holds, where it has to fail", () => {
    expect(sentences(all(a, not(any(b, c))), { a: true, b: false, c: true })).toEqual(["C is so."]);
  });

  test("is said once, and with its kind and name", () => {
    expect(reasonsOf(all(a, any(a, a)), { a: false, b: true, c: true })).toEqual([
      { kind: "circumstance", of: "a", sentence: "A is not so." },
    ]);
  });

  test("is nothing, where nothing is asked for", () => {
    expect(reasonsOf(always, {})).toEqual([]);
  });

  test("is never empty for a condition with parts, and decides by itself", () => {
    const conditions = [all(a, b), any(a, not(b)), not(all(a, any(b, c))), any(all(a, b), all(not(a), c))];
    for (const condition of conditions)
      for (const subject of subjects) {
        const reasons = reasonsOf(condition, subject);
        expect(reasons).not.toEqual([]);
        // Whatever else of the subject changes, the verdict stays while these hold.
        const decisive = new Set(reasons.map(({ of }) => of));
        for (const other of subjects)
          if ([...decisive].every((name) => other[name as keyof Subject] === subject[name as keyof Subject]))
            expect(holds(condition, other)).toBe(holds(condition, subject));
      }
  });
});

test("a condition on what a guard finds is judged, and explained, only where the guard holds", () => {
  const condition = given<{ account: { age: number } | null }, { account: { age: number } }>(
    circumstance("account", ({ account }) => account !== null, {
      holds: "there is one",
      fails: "there is none",
    }),
    circumstance("age", ({ account }) => account.age > 17, { holds: "it is old", fails: "it is young" }),
  );
  const verdicts = [null, { age: 3 }, { age: 30 }].map((account) => [
    holds(condition, { account }),
    reasonsOf(condition, { account }).map(({ sentence }) => sentence),
  ]);
  expect(verdicts).toEqual([
    [false, ["There is none."]],
    [false, ["It is young."]],
    [true, ["It is old."]],
  ]);
  expect(describe(condition)).toBe("there is one and it is old");
});

test("a named condition is described by its name, and explained by its parts", () => {
  const inner = named({ holds: "inner holds", fails: "inner fails" }, all(b, c));
  const outer = named({ holds: "outer holds", fails: "outer fails" }, any(a, inner));
  const condition = all(not(outer), a);
  expect(describe(condition)).toBe("outer fails and a is so");
  expect(namedIn(condition).map((each) => [each.holds, describe(each.part)])).toEqual([
    ["outer holds", "a is so or inner holds"],
    ["inner holds", "b is so and c is so"],
  ]);
  for (const subject of subjects) {
    expect(holds(outer, subject)).toBe(holds(any(a, all(b, c)), subject));
    expect(reasonsOf(outer, subject)).toEqual(reasonsOf(any(a, all(b, c)), subject));
  }
});

group("the description of a condition", () => {
  test.each([
    [all(a, b), "a is so and b is so"],
    [any(a, all(b, c)), "a is so or (b is so and c is so)"],
    [all(a, any(b, c)), "a is so and (b is so or c is so)"],
    [all(a, not(any(b, c))), "a is so and b is not so and c is not so"],
    [all(a, not(all(b, c))), "a is so and (b is not so or c is not so)"],
    [all(always, a), "a is so"],
    [any(a, all(all(b, c))), "a is so or (b is so and c is so)"],
    [always, null],
  ])("%# joins its parts as they are judged", (condition, expected) => {
    expect(describe(condition)).toBe(expected);
  });
});

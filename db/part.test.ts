import { expect, test } from "vitest";
import { type Part, statementsOf } from "./part.ts";

const part = (name: string, text: string, more: Partial<Part> = {}): Part => ({
  name,
  text,
  values: [1],
  ...more,
});

test("parts become one statement whose parameters are numbered through", () => {
  const statements = statementsOf([
    part("one", "one as (select $1)"),
    part("two", "two as (select $1)", { returns: "$1" }),
  ]);
  expect(statements).toEqual([
    {
      name: "one+two",
      text: "with one as (select $1),\ntwo as (select $2)\nselect $2 as two",
      values: [1, 1],
    },
  ]);
});

test("a second text under the name of a part is an error, and not the first text again", () => {
  statementsOf([part("taken", "taken as (select $1)")]);
  expect(() => statementsOf([part("taken", "taken as (select 1 + $1)")])).toThrow(
    "two parts have the name taken and different texts",
  );
});

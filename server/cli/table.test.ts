import { expect, test } from "vitest";
import { table } from "./table.ts";

test("columns are as wide as their widest cell", () => {
  expect(
    table(
      ["id", "name"],
      [
        ["1", "Ada"],
        ["1000", "B"],
      ],
    ),
  ).toEqual(["id    name", "1     Ada", "1000  B"]);
});

test("a cell neither begins a line nor controls the terminal", () => {
  const cells = ["\u001b[2J", "a\r\nforged", "\u009b31m", "\u202eevil", "a\u2028b", "Zoë 日本"];
  expect(
    table(
      ["name"],
      cells.map((cell) => [cell]),
    ),
  ).toEqual([
    "name",
    "\\u001b[2J",
    "a\\u000d\\u000aforged",
    "\\u009b31m",
    "\\u202eevil",
    "a\\u2028b",
    "Zoë 日本",
  ]);
});

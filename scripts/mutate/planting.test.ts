import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faults } from "./faults/index.ts";
import { plant } from "./planting.ts";

const root = join(import.meta.dirname, "..", "..");

describe("the list of faults", () => {
  test.each(faults.map((fault) => [fault.name, fault] as const))("can plant: %s", (_, fault) => {
    const source = readFileSync(join(root, fault.file), "utf8");
    expect(plant(fault, source)).not.toBe(source);
    expect(fault.caughtBy.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    // The copy in which it is planted is not built.
    const texts = fault.caughtBy.map((file) => readFileSync(join(root, file), "utf8"));
    expect(texts.filter((text) => /\bstart(\w*Service|Server)\(/.test(text))).toEqual([]);
  });

  test("has a fault in every room that judges, counts or stores", () => {
    const roomOf = (file: string) => file.split("/").slice(0, 2).join("/");
    const rooms = new Set(faults.map(({ file }) => roomOf(file)));
    // Their code runs at development, or only passes on what others decide.
    const others = [
      "server/context",
      "server/database",
      "server/dev",
      "server/failures",
      "server/objects",
      "server/testing",
    ];
    const missing = readdirSync(join(root, "server"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `server/${name}`)
      .filter((room) => !rooms.has(room) && !others.includes(room));
    expect(missing).toEqual([]);
  });
});

test("a fault whose text is gone, or is there twice, is reported", () => {
  const fault = { name: "x", file: "f", text: "a", fault: "b", caughtBy: ["t"] } as const;
  expect(() => plant(fault, "c")).toThrow('f holds the text of "x" 0 times, not once');
  expect(() => plant(fault, "aa")).toThrow('f holds the text of "x" 2 times, not once');
});

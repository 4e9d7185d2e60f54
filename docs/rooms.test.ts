import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { floors } from "../server/floors.ts";
import { roomsDiagram } from "./rooms.ts";

const root = join(import.meta.dirname, "..");

test("docs/architecture.md draws the rooms in the order that `npm run check` enforces; `npm run docs` draws them", () => {
  expect(readFileSync(join(root, "docs", "architecture.md"), "utf8")).toContain(roomsDiagram(floors));
});

test("server/ itself holds the process, the types that its rooms share, their order, and nothing else", () => {
  const files = readdirSync(join(root, "server"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map(({ name }) => name);
  expect(files.sort()).toEqual(["floors.ts", "main.ts", "runtime-slot.ts", "runtime.ts"]);
});

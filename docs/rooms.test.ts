import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Layer, layersOf, mayImport, roomsDiagram } from "./rooms.ts";

const root = join(import.meta.dirname, "..");
const layers = layersOf(JSON.parse(readFileSync(join(root, "biome.json"), "utf8")));

test("docs/architecture.md draws the rooms as the linter enforces them; `npm run docs` draws them", () => {
  expect(readFileSync(join(root, "docs", "architecture.md"), "utf8")).toContain(roomsDiagram(layers));
});

test("every folder of server/ is a room of exactly one layer", () => {
  const folders = readdirSync(join(root, "server"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "testing")
    .map(({ name }) => `server/${name}`);
  const placed = layers.flatMap(({ rooms }) => rooms).filter((room) => /^server\/[^/]+$/.test(room));
  expect(placed.sort()).toEqual(folders.sort());
});

test("server/ itself holds the process and the types that every room shares, and nothing else", () => {
  const files = readdirSync(join(root, "server"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map(({ name }) => name);
  expect(files.sort()).toEqual(["main.ts", "runtime-slot.ts", "runtime.ts"]);
});

test("no layer may import a layer that may import it", () => {
  const both = layers.flatMap((one) =>
    layers
      .filter((other) => mayImport(one, other) && mayImport(other, one))
      .map((other) => [one.rooms, other.rooms]),
  );
  expect(both).toEqual([]);
});

describe("a diagram", () => {
  const layer = (room: string, ...forbidden: string[]): Layer => ({
    rooms: [room],
    forbidden: forbidden.map((name) => `**/${name}/**`),
  });

  test("leaves out arrows that follow from others", () => {
    const [http, flow, lib] = [
      layer("server/http"),
      layer("server/flow", "http"),
      layer("server/lib", "http", "flow"),
    ] as const;
    expect(roomsDiagram([http, flow, lib]).match(/--> layer\d/g)).toEqual(["--> layer2", "--> layer3"]);
  });

  test("expands braces of the linter's patterns", () => {
    const style = {
      noRestrictedImports: { options: { patterns: [{ group: ["**/{http,trpc}/**", "!**/x/**"] }] } },
    };
    const read = layersOf({
      overrides: [{ includes: ["server/{flow,mail}/**", "!**/*.test.ts"], linter: { rules: { style } } }],
    });
    expect(read).toEqual([
      { rooms: ["server/flow", "server/mail"], forbidden: ["**/http/**", "**/trpc/**"] },
    ]);
  });
});

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as rooms from "../server/floors.ts";
import { forbiddenImports } from "./floors.ts";
import { importsOf, type Modules, readModules } from "./imports.ts";

const order = {
  floors: [["server/lib"], ["server/mail", "server/keys"], ["server/flow"]],
  backwards: [{ from: "server/lib/a.ts", to: "server/flow/names.ts", because: "…" }],
  restrictions: [
    {
      of: ["server/flow/**"],
      except: ["server/flow/store.ts"],
      not: ["pg", "server/mail/**"],
      but: ["server/mail/messages.ts"],
      because: "it is pure",
    },
  ],
};

/** What is said of imports written as `from to`. */
function judged(...imports: string[]): string[] {
  const modules: Modules = new Map(
    imports.map((line) => {
      const [from = "", to = ""] = line.split(" ");
      return [from, [{ to, isTypeOnly: false, isPackage: !to.includes("/") }]];
    }),
  );
  return forbiddenImports(modules, order);
}

describe("an import", () => {
  test("of a lower room, of the same room or of a package is allowed", () => {
    expect(
      judged("server/flow/a.ts server/lib/b.ts", "server/lib/c.ts server/lib/b.ts", "server/lib/d.ts zod"),
    ).toEqual([]);
  });

  test("of a higher room is refused, unless it is one that runs back", () => {
    expect(judged("server/lib/a.ts server/flow/names.ts")).toEqual([]);
    expect(judged("server/lib/b.ts server/flow/names.ts")).toEqual([
      "server/lib/b.ts imports server/flow/names.ts: server/lib lies below server/flow",
    ]);
  });

  test("of a room beside it is refused", () => {
    expect(judged("server/mail/a.ts server/keys/b.ts")).toEqual([
      "server/mail/a.ts imports server/keys/b.ts: server/mail and server/keys lie beside each other",
    ]);
  });

  test("of what only tests use is refused, and tests import what they test", () => {
    expect(judged("server/mail/a.ts server/testing/b.ts")).toHaveLength(1);
    expect(judged("server/mail/a.test.ts server/flow/b.ts")).toEqual([]);
  });

  test("of a file that belongs to no room is refused, because it may import any", () => {
    expect(judged("server/flow/a.ts scripts/b.ts")).toEqual([
      "server/flow/a.ts imports scripts/b.ts: it belongs to no room",
    ]);
    expect(judged("scripts/b.ts scripts/c.ts")).toEqual([]);
  });

  test("is refused by a restriction, with its exceptions", () => {
    expect(judged("server/flow/a.ts pg")).toEqual(["server/flow/a.ts imports pg: it is pure"]);
    expect(judged("server/flow/store.ts pg", "server/flow/a.ts server/mail/messages.ts")).toEqual([]);
  });
});

test("imports and exports are read by value and by type, and with every kind of specifier", () => {
  const source = `
    import { type A, type B } from "./a.ts";
    import type { C } from "#db/client";
    import d from "#server/lib/d";
    export { e } from "../e.js";
    const f = await import("./f.ts");
    import "pg";
    type H = import("./h.ts").H<typeof import("./i.ts")>;
    import j = require("./j.ts");
    export {} from "./k.ts";
    export type * from "./l.ts";
    const m = import((\`./m.ts\`));
    const n = import(d);\n`;
  const read = importsOf("server/mail/x.ts", source, new Set(["server/mail/a.ts", "server/mail/f.ts"]));
  expect(read.map(({ to, isTypeOnly }) => (isTypeOnly ? `type ${to}` : to)).sort()).toEqual(
    [
      "type server/mail/a.ts",
      "type db/client.ts",
      "server/lib/d.ts",
      "server/e.ts",
      "server/mail/f.ts",
      "pg",
      "type server/mail/h.ts",
      "type server/mail/i.ts",
      "server/mail/j.ts",
      "server/mail/k.ts",
      "type server/mail/l.ts",
      "server/mail/m.ts",
    ].sort(),
  );
});

test("`npm run check` lists the imports that are refused, and fails", () => {
  const root = join(import.meta.dirname, "..");
  const folder = mkdtempSync(join(tmpdir(), "stile floors "));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const files = ["run.js", "run-node.mjs", "floors.ts", "imports.ts"].map((name) => `scripts/${name}`);
  for (const file of ["package.json", "server/floors.ts", ...files])
    cpSync(join(root, file), join(folder, file));
  const put = (path: string, source: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), source);
  };
  put("server/lib/low.ts", 'import "../flow/high.ts";\n');
  put("server/flow/high.ts", 'import "../lib/other.ts";\n');
  put("server/lib/other.ts", "export {};\n");
  const { status, stderr } = spawnSync(process.execPath, ["scripts/run.js", "scripts/floors.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(stderr).toBe("server/lib/low.ts imports server/flow/high.ts: server/lib lies below server/flow\n");
  expect(status).toBe(1);
});

describe("the rooms of this repository", () => {
  const modules = readModules(join(import.meta.dirname, ".."));
  const files = [...modules.keys()];

  test("have every module of server/ on a floor, and no floor without a module", () => {
    const placed = rooms.floors.flat();
    const isIn = (file: string, room: string) => file === room || file.startsWith(`${room}/`);
    const product = files.filter((file) => /^server\//.test(file) && !/\.(test|types)\.ts$/.test(file));
    const homeless = product.filter((file) => !placed.some((room) => isIn(file, room)));
    expect(homeless.filter((file) => !file.startsWith("server/testing/"))).toEqual(["server/floors.ts"]);
    expect(placed.filter((room) => !files.some((file) => isIn(file, room)))).toEqual([]);
    expect(new Set(placed).size).toBe(placed.length);
  });

  test("have at most five arrows that run back, each of them in use and by type alone", () => {
    expect(rooms.backwards.length).toBeLessThanOrEqual(5);
    for (const { from, to } of rooms.backwards) {
      const found = modules.get(from)?.filter((one) => one.to === to) ?? [];
      expect(found.map(({ isTypeOnly }) => isTypeOnly)).toContain(true);
      expect(found.map(({ isTypeOnly }) => isTypeOnly)).not.toContain(false);
    }
  });

  test("follow the order", () => {
    expect(forbiddenImports(modules, rooms)).toEqual([]);
  });
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runStile } from "../../testing/stile.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stile coverage "));
});
afterEach(() => rmSync(folder, { recursive: true }));

const coverage = (...words: string[]) =>
  runStile(["coverage", folder, ...words], { cwd: folder, env: { NODE_ENV: "test" } });

const took = (name: string, edges: string[], errors: string[] = []) =>
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ edges, errors }));

test("adds up the servers of a run, and counts only what the graph declares", async () => {
  took("a", ["login preflight register_client_capabilities NEXT", "login nowhere nothing NEXT"]);
  took(
    "b",
    ["login preflight register_client_capabilities NEXT", "login login_password password_login NEXT"],
    ["login_password password_login value_invalid_error"],
  );
  const { code, out } = await coverage("--flow", "login", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ edges: { taken: 2 }, errors: { taken: 1 } });
  expect((await coverage()).out).toMatch(/^\d+ % \(2 of \d+ transitions, 1 of \d+ errors\)\n$/);
});

test("fails below the share that is asked for", async () => {
  took("a", ["login preflight register_client_capabilities NEXT"]);
  expect(await coverage("--min", "0")).toMatchObject({ code: 0 });
  const low = await coverage("--min", "90", "--untaken");
  expect(low).toMatchObject({ code: 1, err: expect.stringMatching(/the coverage is \d %, below 90 %/) });
  expect(low.out).toContain("\nlogin login_password password_login NEXT\n");
});

test("draws taken transitions differently from others", async () => {
  took("a", ["login preflight register_client_capabilities NEXT"]);
  const file = join(folder, "coverage.md");
  expect(await coverage("--flow", "login", "--mermaid", file)).toMatchObject({ code: 0 });
  const drawing = readFileSync(file, "utf8");
  expect(drawing).toContain("```mermaid\nflowchart LR\n");
  expect(drawing).toContain("preflight -->|register_client_capabilities| NEXT");
  expect(drawing).toMatch(/linkStyle 0 stroke:#1a7f37/);
});

test("names a folder without coverage, a foreign file and invalid arguments", async () => {
  expect(await coverage()).toMatchObject({ code: 1, err: expect.stringContaining("holds no coverage") });
  writeFileSync(join(folder, "a.json"), "[]");
  expect(await coverage()).toMatchObject({ code: 1, err: expect.stringContaining("is not a coverage of") });
  rmSync(join(folder, "a.json"));
  took("a", []);
  expect(await coverage("--min", "half")).toMatchObject({ code: 2 });
  expect(await coverage("--flow", "logout")).toMatchObject({ code: 2 });
  mkdirSync(join(folder, "taken"));
  expect(await coverage("--mermaid", join(folder, "taken"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot be written: EISDIR"),
  });
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../server/testing/program.ts";
import { commandsOf } from "./fenced-blocks.ts";

const root = join(import.meta.dirname, "..");
const guide = readFileSync(join(root, "docs/testing.md"), "utf8");
const examples = [...guide.matchAll(/^```ts test\n(.*?)^```$/gms)].map(([, code = ""]) => code);

let folder: string;
beforeAll(() => {
  mkdirSync(join(root, "data"), { recursive: true });
  // Below the repository, so that the examples find Vitest; `data` is ignored by Git.
  folder = mkdtempSync(join(root, "data", "testing-guide-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the examples of the guide pass, and their coverage can be measured", async () => {
  expect(examples.length).toBeGreaterThanOrEqual(5);
  for (const [index, code] of examples.entries()) {
    const kit = JSON.stringify(join(root, "server/testing/kit/index.ts"));
    writeFileSync(join(folder, `${index}.test.ts`), code.replaceAll('"@stile-auth/testing"', kit));
  }
  writeFileSync(
    join(folder, "vitest.config.ts"),
    "export default { test: { testTimeout: 300_000, hookTimeout: 300_000 } };\n",
  );
  writeFileSync(join(folder, "package.json"), '{ "private": true, "scripts": { "test": "vitest run" } }');
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(join(root, "bin/stile.js"), join(folder, "node_modules/.bin/stile"));
  const commands = commandsOf("docs/testing.md", "STILE_COVERAGE=", { "--min 40": "--min 1" });
  const { code, out, err } = await run("sh", ["-e", "-c", commands], {
    cwd: folder,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NODE_ENV: "test", NO_COLOR: "1" },
  });
  expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
  expect(out).toMatch(/Tests +\d+ passed \(\d+\)/);
  expect(out).toMatch(/^\d+ % /m);
  expect(readdirSync(join(folder, "coverage/stile")).length).toBeGreaterThanOrEqual(examples.length);
  expect(readFileSync(join(folder, "coverage/stile.md"), "utf8")).toContain("```mermaid\n");
});

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runStile } from "../server/testing/stile.ts";

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
  const coverage = join(folder, "coverage");
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", "--root", folder], {
    env: { PATH: process.env.PATH ?? "", NODE_ENV: "test", STILE_COVERAGE: coverage, NO_COLOR: "1" },
  }).catch((error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr }));
  expect(stdout).toMatch(/Tests +\d+ passed \(\d+\)/);

  expect(readdirSync(coverage).length).toBeGreaterThanOrEqual(examples.length);
  const measured = await runStile(["coverage", coverage, "--min", "1"], {
    cwd: folder,
    env: { NODE_ENV: "test" },
  });
  expect(measured).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+ % /) });
});

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "stile run "));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const name of ["run.js", "run-node.mjs"])
    copyFileSync(join(import.meta.dirname, name), join(folder, name));
  writeFileSync(
    join(folder, "program.ts"),
    "const [, program, ...parameters]: string[] = process.argv;\n" +
      "console.log(JSON.stringify({ program, parameters, options: process.env.NODE_OPTIONS ?? null }));\n" +
      "process.exitCode = 7;\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the program in `folder` by a launcher, which sees another version of Node. */
function run(launcher: string, { version = process.versions.node, readsTypeScript = true } = {}) {
  const disguise = `process.argv[1] === ${JSON.stringify(launcher)} &&
    Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      // By the name that Node 22.13 knows as well.
      `--${readsTypeScript ? "" : "no-"}experimental-strip-types`,
      "--disable-warning=ExperimentalWarning",
      "--import",
      `data:text/javascript,${encodeURIComponent(disguise)}`,
      launcher,
      join(folder, "program.ts"),
      "a b",
      "--c",
    ],
    { encoding: "utf8", env: { PATH: process.env.PATH, NODE_ENV: "test" } },
  );
  return { status, output: stdout === "" ? null : JSON.parse(stdout), stderr };
}

const ours = join(import.meta.dirname, "run.js");

describe("the launcher of TypeScript programs", () => {
  test("runs the program with its parameters, and exits with its code", () => {
    expect(run(ours)).toEqual({
      status: 7,
      output: { program: join(folder, "program.ts"), parameters: ["a b", "--c"], options: null },
      stderr: "",
    });
  });

  test("sets the flag that Node 22.13 needs, for child processes too", () => {
    const { status, output } = run(ours, { version: "22.13.0", readsTypeScript: false });
    expect(status).toBe(7);
    expect(output).toMatchObject({
      parameters: ["a b", "--c"],
      options: expect.stringContaining("--experimental-strip-types"),
    });
  });

  test("uses the installed Node instead of one that is too old", () => {
    expect(run(ours, { version: "20.20.2", readsTypeScript: false })).toMatchObject({
      status: 7,
      output: { parameters: ["a b", "--c"] },
    });
  });

  test.each(["12.22.12", "20.20.2", "22.12.0"])(
    "says in one sentence that Node %s is too old where no other is installed",
    (version) => {
      const { status, output, stderr } = run(join(folder, "run.js"), { version, readsTypeScript: false });
      expect(status).toBe(1);
      expect(output).toBeNull();
      expect(stderr).toMatch(/^Stile needs Node 22\.13 or newer, and this is Node [\d.]+\. Install .*\.\n$/);
    },
  );
});

import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Fault } from "./fault.ts";
import { faults } from "./faults/index.ts";
import { plant } from "./planting.ts";

/**
 * `npm run test:mutate [-- WORD …]`: plants each fault of the list in a copy of the project, one at a time, and runs the
 * tests that have to notice it, which must pass without it. Prints the faults that survive, and exits with 1 if there
 * are any. With words, it plants only the faults whose name or file contains one of them.
 */

const root = join(import.meta.dirname, "..", "..");
const words = process.argv.slice(2);
const chosen = faults.filter(
  ({ name, file }) => words.length === 0 || words.some((word) => `${name} ${file}`.includes(word)),
);

const copy = copyProject();
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));

// A test that fails anyway would seem to catch every fault.
const unplanted = await runTests([...new Set(chosen.flatMap(({ caughtBy }) => caughtBy))]);
if (unplanted.failures > 0) {
  process.stderr.write(`Without a fault, tests fail in:\n${unplanted.failedFiles.join("\n")}\n`);
  process.exit(1);
}

const survivors: Fault[] = [];
for (const fault of chosen) {
  const outcome = await tryFault(fault);
  process.stdout.write(`${outcome}  ${fault.file}: ${fault.name}\n`);
  if (outcome !== "caught") survivors.push(fault);
}
process.stdout.write(`${chosen.length - survivors.length} of ${chosen.length} faults were caught.\n`);
process.exitCode = survivors.length > 0 ? 1 : 0;

/** Copies the tracked files, with their uncommitted changes. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "stile faults "));
  const tracked = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const file of tracked.split("\0").filter((name) => name !== ""))
    cpSync(join(root, file), join(folder, file));
  // Tests that start the built server run, without the fault in it.
  for (const made of ["node_modules", "dist"].filter((name) => existsSync(join(root, name))))
    symlinkSync(join(root, made), join(folder, made), "junction");
  return folder;
}

/**
 * Plants a fault, runs its tests, and removes it.
 *
 * @returns `failed`: the tests did not run
 */
async function tryFault(fault: Fault): Promise<"caught" | "SURVIVED" | "failed"> {
  const file = join(copy, fault.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, plant(fault, source));
  try {
    const { failures, passes } = await runTests(fault.caughtBy);
    if (failures > 0) return "caught";
    return passes > 0 ? "SURVIVED" : "failed";
  } finally {
    writeFileSync(file, source);
  }
}

/** A test file in Vitest's report. Files that did not run because another failed are failed, too. */
interface TestFile {
  name: string;
  assertionResults: { status: string }[];
}

interface Report {
  failures: number;
  passes: number;
  failedFiles: string[];
}

/** Runs test files of the copy until the first failure. */
async function runTests(files: readonly string[]): Promise<Report> {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const parameters = [vitest, "run", "--bail=1", "--reporter=json", `--outputFile=${report}`, ...files];
  const child = spawn(process.execPath, parameters, { cwd: copy, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  try {
    const { numFailedTests, numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    const failed = (testResults as TestFile[]).filter(({ assertionResults }) =>
      assertionResults.some(({ status }) => status === "failed"),
    );
    const failedFiles = failed.map(({ name }) => relative(copy, name));
    return { failures: numFailedTests, passes: numPassedTests, failedFiles };
  } catch {
    return { failures: 0, passes: 0, failedFiles: [] };
  }
}

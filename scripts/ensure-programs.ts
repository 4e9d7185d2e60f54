import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { installDebianPackages } from "./debian-packages.ts";
import {
  goPrograms,
  isInstalled,
  packageOf,
  programNames,
  pythonPrograms,
  sourceOf,
} from "./test-programs.ts";

/**
 * Runs before the tests: in CI installs the programs that tests run beside the server and that are missing. Elsewhere it
 * installs none, because the machine would start them as services when it starts. The tests of a program that is missing are skipped.
 */

const missing = () => programNames.filter((name) => !isInstalled(name));

/** Whether a program ran and ended well. */
const does = (program: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  spawnSync(program, words, { stdio: "inherit", env }).status === 0;

if (process.env.CI) {
  const sources = missing().map((name) => ({ ...sourceOf(name), name }));
  const ofDebian = sources.filter(({ go, pypi }) => !go && !pypi);
  if (ofDebian.length > 0) installDebianPackages(ofDebian.map(({ name }) => packageOf(name)));
  for (const { go, pypi } of sources) {
    if (go) does("go", ["install", "-ldflags=-s -w", go], { ...process.env, GOBIN: goPrograms });
    if (pypi && does("python3", ["-m", "venv", pythonPrograms]))
      does(join(pythonPrograms, "bin/pip"), ["install", "--quiet", pypi]);
  }
}
for (const name of missing())
  process.stderr.write(`stile: ${name} is not installed, so the tests that need it are skipped\n`);

import { installDebianPackages } from "./debian-packages.ts";
import { isInstalled, packageOf, programNames } from "./test-programs.ts";

/**
 * Runs before the tests: in CI installs the programs that tests run beside the server and that are missing. Elsewhere it
 * installs none, because the machine would start them as services when it starts. The tests of a program that is missing are skipped.
 */

const missing = () => programNames.filter((name) => !isInstalled(name));

if (process.env.CI && missing().length > 0) installDebianPackages(missing().map(packageOf));
for (const name of missing())
  process.stderr.write(`stile: ${name} is not installed, so the tests that need it are skipped\n`);

import { installDebianPackages } from "./debian-packages.ts";
import { isInstalled, proxyNames } from "./proxy-programs.ts";

/**
 * Runs before the tests: in CI installs the reverse proxies that are missing. Elsewhere it installs none, because the
 * packages would start them as services. The tests of a proxy that is missing are skipped.
 */

const missing = () => proxyNames.filter((name) => !isInstalled(name));

if (process.env.CI && missing().length > 0) installDebianPackages(missing());
for (const name of missing())
  process.stderr.write(`stile: ${name} is not installed, so the tests of its configuration are skipped\n`);

import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";

/** Asked by the scripts of packages whether a service may be started (`man invoke-rc.d`). 101 forbids it. */
const servicePolicy = "/usr/sbin/policy-rc.d";

/**
 * Installs packages of Debian with apt-get, as far as they exist and this account may. Starts none of their services,
 * which would listen on ports of this machine.
 *
 * @returns false if apt-get is missing or fails
 */
export function installDebianPackages(packages: readonly string[]): boolean {
  const commands = [["update"], ["install", "--yes", "--no-install-recommends", ...packages]];
  const install = () =>
    commands.every(
      (words) =>
        spawnSync("apt-get", words, {
          stdio: "inherit",
          env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
        }).status === 0,
    );
  if (process.getuid?.() !== 0 || existsSync(servicePolicy)) return install();
  writeFileSync(servicePolicy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    return install();
  } finally {
    rmSync(servicePolicy);
  }
}

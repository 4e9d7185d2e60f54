import { spawnSync } from "node:child_process";

/**
 * Installs packages of Debian with apt-get, as far as they exist and this account may.
 *
 * @returns false if apt-get is missing or fails
 */
export function installDebianPackages(packages: readonly string[]): boolean {
  const commands = [["update"], ["install", "--yes", "--no-install-recommends", ...packages]];
  return commands.every(
    (words) =>
      spawnSync("apt-get", words, {
        stdio: "inherit",
        env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      }).status === 0,
  );
}

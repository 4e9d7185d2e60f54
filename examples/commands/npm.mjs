import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

/**
 * Stands in for npm where the commands of the guides are run: what they install from a registry is linked from the
 * libraries of this repository, so that the guides are tested without a network and with the versions of the lock file.
 * What they install from files is unpacked, and every other command is npm's.
 */
const [command, ...files] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..", "..");
const modules = resolve("node_modules");

if (command === "install") install();
else if (process.env.REAL_PATH) {
  const env = { ...process.env, PATH: process.env.REAL_PATH };
  const child = spawn("npm", process.argv.slice(2), { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}

function install() {
  // The folder of Stile has its libraries already.
  if (resolve(".") === root) return;
  const manifests = [JSON.parse(readFileSync("package.json", "utf8"))];
  for (const file of files) {
    const name = /stile-auth-([a-z]+)-\d/.exec(file)?.[1];
    if (!name) throw new Error(`npm install: ${file} is no package of Stile`);
    const folder = join(modules, "@stile-auth", name);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["xzf", file, "--strip-components=1", "-C", folder]);
    manifests.push(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  }
  for (const { dependencies, devDependencies } of manifests)
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) link(name);
  link(".bin");
}

function link(name) {
  const path = join(modules, name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(join(root, "node_modules", name), path);
}

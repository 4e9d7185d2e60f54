import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

/**
 * Stands in for npm where the commands of the guides are run: what they install from a registry is linked from the
 * libraries of this repository, so that the guides are tested without a network and with the versions of the lock file.
 * Packages of Stile are unpacked, by file or by name, and every other command is npm's.
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
  const wanted = files.filter((file) => file !== "--save-dev");
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    const own = /^@stile-auth\/([a-z]+)$|stile-auth-([a-z]+)-\d[^/]*\.tgz$/.exec(name);
    if (!own) {
      link(name);
      continue;
    }
    const manifest = unpack(own[1] ?? own[2]);
    manifests.push(manifest);
    // npm installs peers as well.
    const peers = Object.keys(manifest.peerDependencies ?? {});
    wanted.push(...peers.filter((peer) => !manifest.peerDependenciesMeta?.[peer]?.optional));
  }
  for (const { dependencies, devDependencies } of manifests)
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) link(name);
  link(".bin");
}

/** Unpacks a package of Stile, as `npm run packages` made it, and returns its manifest. */
function unpack(name) {
  const packages = process.env.STILE_PACKAGES ?? "";
  const file = readdirSync(packages).find((file) => file.startsWith(`stile-auth-${name}-`));
  if (!file) throw new Error(`npm install: there is no package ${name} in ${packages}`);
  const folder = join(modules, "@stile-auth", name);
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["xzf", join(packages, file), "--strip-components=1", "-C", folder]);
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function link(name) {
  const path = join(modules, name);
  if (!existsSync(join(root, "node_modules", name))) throw new Error(`npm install: ${name} is unknown`);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(join(root, "node_modules", name), path);
}

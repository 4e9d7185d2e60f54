import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import process from "node:process";

/** The oldest supported Node; `engines` in package.json states the same. */
const OLDEST = [22, 13];

/**
 * Runs Node with the parameters in a child process, and exits as it exits. It is the Node that runs this file, or the
 * one that npm installed if this one is too old; where neither is new enough, one sentence says so. JavaScript, because
 * an old Node has to read it.
 *
 * @param {string[]} parameters
 */
export function runNode(parameters) {
  const executable = isSupported() ? process.execPath : installedNode();
  if (!executable) return reportOldNode();
  const child = spawn(executable, parameters, {
    stdio: "inherit",
    env: needsFlag() ? { ...process.env, NODE_OPTIONS: withFlag() } : process.env,
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    process.stderr.write(`${executable} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.once("exit", (code) => process.exit(code ?? 1));
}

/** Whether this process can run the TypeScript programs of the project itself. */
export function canRunTypeScript() {
  return isSupported() && !needsFlag();
}

function isSupported() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Node 22.13 to 22.17 reads TypeScript behind a flag. */
function needsFlag() {
  return isSupported() && !process.features.typescript;
}

/** `NODE_OPTIONS` with the flag, so that the programs that the child starts have it too. */
function withFlag() {
  return `${process.env.NODE_OPTIONS ?? ""} --experimental-strip-types --disable-warning=ExperimentalWarning`;
}

/** The executable of the optional dependency for this platform; null without one. */
function installedNode() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const file = process.platform === "win32" ? "node.exe" : "node";
  try {
    return createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/bin/${file}`);
  } catch {
    return null;
  }
}

function reportOldNode() {
  process.stderr.write(
    `Stile needs Node ${OLDEST.join(".")} or newer, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org, or run npm install, which brings one for most platforms.\n`,
  );
  process.exitCode = 1;
}

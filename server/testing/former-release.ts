import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { run as runProgram } from "./program.ts";
import { type RunningServer, startServer } from "./server.ts";

/** The last release, whose servers the present version replaces one by one on the same database. */
export const formerRelease = {
  version: "0.3.0",
  commit: "a1e795d052b8e2db218da27353272df1861903de",
  /** The last one that it has. */
  migration: "0029_phone_numbers",
};

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Longest reading of a lock file's packages from a registry. */
const INSTALL_TIMEOUT_MS = 240_000;

/** Whether the history of this clone reaches to the former release. A shallow clone's may not. */
export async function hasFormerRelease(): Promise<boolean> {
  const { commit } = formerRelease;
  return run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  );
}

/**
 * Starts a server of the former release from its sources, without its pages. What it needs is put into a folder below
 * the system's temporary one, once per machine.
 *
 * @param env its environment, beside what `startServer` sets
 * @param settings the folder of its `stile.config.json`, if it has one
 */
export async function startFormerRelease(
  env: Record<string, string>,
  settings?: string,
): Promise<RunningServer> {
  const folder = await installed();
  const parameters = [join(folder, "server/main.ts")];
  return startServer({ env, program: { folder: settings ?? folder, parameters } });
}

/**
 * Runs the CLI of the former release on the data of one of its servers, with the same settings.
 *
 * @returns its output
 * @throws Error with what it writes to standard error
 */
export async function runFormerCli(
  { environment, folder }: Pick<RunningServer, "environment" | "folder">,
  ...words: string[]
): Promise<string> {
  const program = join(await installed(), "server/cli/stile.ts");
  const options = { cwd: folder, env: environment };
  const { code, out, err } = await runProgram(process.execPath, [program, ...words], options);
  if (code !== 0) throw new Error(err);
  return out.trim();
}

/** Lists the names of the settings that the former release knows, such as `email` or `mfa.totp`, with their sections. */
export async function settingsOfFormerRelease(): Promise<string[][]> {
  const { configLeaves } = await import(join(await installed(), "server/config/load.ts"));
  return (configLeaves() as { path: string[] }[]).map(({ path }) => path);
}

/** Returns the folder of the former release with its packages. Of several that install at once, the first one's stays. */
async function installed(): Promise<string> {
  const { commit } = formerRelease;
  const parent = join(tmpdir(), `stile-releases-${userInfo().uid}`);
  const folder = join(parent, commit);
  if (existsSync(folder)) return folder;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const made = mkdtempSync(join(parent, `${commit}.`));
  try {
    const archive = join(made, "archive.tar");
    await run("git", ["archive", "--output", archive, commit], { cwd: root });
    await run("tar", ["-xf", archive], { cwd: made });
    rmSync(archive);
    const options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", ["ci", ...options], { cwd: made, timeout: INSTALL_TIMEOUT_MS });
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

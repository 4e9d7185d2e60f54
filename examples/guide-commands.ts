import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Runs the commands of the guides as they stand there, with other folders than those of a reader. */

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

/** Where the commands work in place of `/tmp`. */
export interface GuideFolders {
  /** In place of `/tmp/stile-packages`. */
  packages: string;
  /** In place of `/tmp`; the application of a guide is in `shop-<name>` below it. */
  applications: string;
}

/** The commands of a guide: those of the folder of Stile, and those that make the application, without what starts each. */
export function commandsOf(name: string): { stile: string[]; application: string[]; start: string } {
  const guide = readFileSync(join(root, "examples", name, "README.md"), "utf8");
  const [stile = [], application = []] = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) =>
    block.replaceAll("\\\n", " ").trim().split("\n"),
  );
  return {
    stile: stile.slice(0, -1),
    application: application.slice(0, -1),
    start: application.at(-1) ?? "",
  };
}

/**
 * Runs commands in one shell, from the folder of Stile.
 *
 * @throws Error with their output if one fails
 */
export async function runCommands(commands: readonly string[], folders: GuideFolders): Promise<void> {
  const programs = join(folders.applications, "programs");
  mkdirSync(programs, { recursive: true });
  const npm = join(root, "examples", "commands", "npm.mjs");
  writeFileSync(join(programs, "npm"), `#!/bin/sh\nexec "${process.execPath}" "${npm}" "$@"\n`, {
    mode: 0o755,
  });
  const path = process.env.PATH ?? "";
  // In one pass, because the folders may be below `/tmp` themselves.
  const script = commands
    .join("\n")
    .replace(/\/tmp\/(stile-packages)?/g, (_, packages) =>
      packages ? folders.packages : `${folders.applications}/`,
    );
  await run("sh", ["-e", "-c", script], {
    cwd: root,
    env: { ...process.env, PATH: `${programs}:${path}`, REAL_PATH: path, STILE_PACKAGES: folders.packages },
    maxBuffer: 64 * 1024 * 1024,
  });
}

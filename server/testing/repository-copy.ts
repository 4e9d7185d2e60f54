import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Copies the repository as it is now, without what Git ignores, into a folder. */
export function copyRepository(folder: string): void {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of files.split("\0").filter((name) => name && existsSync(join(root, name))))
    cpSync(join(root, file), join(folder, file));
}

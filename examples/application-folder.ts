import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builders } from "../scripts/build-packages.ts";

const root = join(import.meta.dirname, "..");

/**
 * Makes an empty folder for applications, with packages of Stile as they are installed, and libraries.
 *
 * @param packages of `packages/`
 * @param libraries names in `node_modules`, which are linked
 */
export async function applicationFolder(
  packages: readonly (keyof typeof builders)[],
  libraries: readonly string[],
): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "stile-guides-")));
  const modules = join(folder, "node_modules");
  for (const name of packages) {
    const installed = join(modules, "@stile-auth", name);
    await builders[name](join(installed, "dist"));
    cpSync(join(root, "packages", name, "package.json"), join(installed, "package.json"));
  }
  for (const name of libraries) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  return folder;
}

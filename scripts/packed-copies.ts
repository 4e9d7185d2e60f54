import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { builders, pack } from "./build-packages.ts";

const root = dirname(import.meta.dirname);

/**
 * Builds and packs copies of the packages, for tests: a build of another test or of a developer at the same time is not
 * disturbed.
 *
 * @param folder that the copies and the files are written to
 * @returns the file of the service, as `stile`, and of each package, by its name
 */
export async function packedCopies(folder: string): Promise<Map<string, string>> {
  const sources = new Map([["stile", root]]);
  for (const [name, build] of Object.entries(builders)) {
    const source = join(folder, "sources", name);
    for (const file of ["package.json", "README.md"])
      cpSync(join(root, "packages", name, file), join(source, file));
    await build(join(source, "dist"));
    sources.set(name, source);
  }
  const files = pack([...sources.values()], join(folder, "packed"));
  return new Map([...sources.keys()].map((name, index) => [name, files[index] ?? ""]));
}

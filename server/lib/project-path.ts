import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The path of a data file or folder of this project. It is looked for beside the sources, beside `dist/`, and in the
 * working directory, because modules in a bundle of Next do not know their own folder.
 *
 * @param segments the path from the root of the project; name it in `outputFileTracingIncludes` as well
 * @returns null if it does not exist
 */
export function projectPath(...segments: string[]): string | null {
  const folder: string | undefined = import.meta.dirname;
  const roots = folder === undefined ? [] : [join(folder, "../.."), join(folder, "../../..")];
  const paths = [...roots, process.cwd()].map((root) => join(/* turbopackIgnore: true */ root, ...segments));
  return paths.find((path) => existsSync(/* turbopackIgnore: true */ path)) ?? null;
}

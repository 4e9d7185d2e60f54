import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * The declarations that entry points reach, by their paths, with relative imports in place of the repository's own
 * (`#server/…`). What is installed from a registry has no sources that those could lead to.
 *
 * @param folder what the compiler has written
 * @param entries paths in it, with `/`
 * @param replaced texts in place of what the compiler has written, by their paths
 */
export function reachedDeclarations(
  folder: string,
  entries: readonly string[],
  replaced: Readonly<Record<string, string>> = {},
): Map<string, string> {
  const reached = new Map<string, string>();
  const pending = [...entries];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (reached.has(file)) continue;
    const from = posix.dirname(file);
    const text = (replaced[file] ?? readFileSync(join(folder, file), "utf8")).replace(
      /(from |import\()"([#.][^"]*)"/g,
      (_, before: string, specifier: string) => {
        const target = specifier.startsWith("#") ? specifier.slice(1) : posix.join(from, specifier);
        const path = target.replace(/\.tsx?$/, "");
        pending.push(`${path}.d.ts`);
        const relative = posix.relative(from, path);
        return `${before}"${relative.startsWith(".") ? relative : `./${relative}`}.js"`;
      },
    );
    reached.set(file, text);
  }
  return reached;
}

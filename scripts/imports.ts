import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync } from "oxc-parser";

/** One import of a module, or one export of another module's names. */
export interface Import {
  /** Path of a module of this repository from its root, or the specifier of a package. */
  to: string;
  isTypeOnly: boolean;
}

/** The modules of the repository by their path, each with what it imports. */
export type Modules = ReadonlyMap<string, readonly Import[]>;

/** Reads the imports of every module that is committed or about to be. */
export function readModules(root: string): Modules {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = listed.split("\n").filter((file) => /\.tsx?$/.test(file) && existsSync(join(root, file)));
  const known = new Set(files);
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), "utf8"), known)]));
}

/**
 * Returns what a module imports.
 *
 * @param file its path from the root, with `/`
 * @param known the paths of all modules
 * @throws Error if the source does not parse, or names a module that does not exist
 */
export function importsOf(file: string, source: string, known: ReadonlySet<string>): Import[] {
  const { module, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const found = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isTypeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, isTypeOnly: isType }] : [],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const literal = /^["'`]([^$]*)["'`]$/.exec(source.slice(start, end));
      return literal ? [{ specifier: literal[1] ?? "", isTypeOnly: false }] : [];
    }),
  ];
  return found.map(({ specifier, isTypeOnly }) => ({ to: resolved(file, specifier, known), isTypeOnly }));
}

function resolved(file: string, specifier: string, known: ReadonlySet<string>): string {
  const [, room, rest] = /^#(server|db|words)\/(.+)$/.exec(specifier) ?? [];
  if (room) return `${room}/${rest}.ts`;
  if (!specifier.startsWith(".")) return specifier;
  const path = posix.join(posix.dirname(file), specifier);
  return known.has(path) ? path : path.replace(/\.js$/, ".ts");
}

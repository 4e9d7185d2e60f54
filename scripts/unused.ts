import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * `npm run check`: lists unused exports and dependencies. Exits with 1 if there are any.
 *
 * Reads the sources as text, which suffices because Biome formats imports and exports uniformly.
 */

const root = join(import.meta.dirname, "..");

/** Modules whose exports are used outside our modules: by Next, Vitest, Playwright, and dependent packages. */
const entryPoints = [
  /^app\/.*\/?route\.ts$/,
  /^hosted\/drawing\/(draw\.tsx|browser\/[\w-]+\.ts)$/,
  /^examples\/(next\/(proxy|app\/.+)|(spa|trpc)\/vite\.config)\.js$/,
  /^examples\/trpc\/src\/main\.ts$/,
  /^(instrumentation|drizzle\.config|playwright\.config|vitest\.config)\.ts$/,
  /^next\.config\.mjs$/,
  /^(server\/testing\/postgres-cluster|e2e\/(postgres|require-assertions))\.ts$/,
  /^server\/passkey-server\/receipt-verification\.ts$/,
  /^packages\/server\/src\/(stile|trpc)\.ts$/,
  /^server\/testing\/kit\/(index|host)\.ts$/,
  /^packages\/\w+\/src\/[\w-]+\.tsx$/,
  // Type tests, which only the compiler reads.
  /\.types\.ts$/,
];

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(ts|tsx|mjs|js)$/.test(file) && !file.startsWith("db/migrations/"));
const known = new Set(files);
const sources = new Map(files.flatMap((file) => read(file)));

const unused = [...unusedExports(), ...unusedDependencies()].sort();
for (const line of unused) process.stderr.write(`${line}\n`);
process.exitCode = unused.length > 0 ? 1 : 0;

function read(file: string): [string, string][] {
  try {
    return [[file, readFileSync(join(root, file), "utf8")]];
  } catch {
    // Deleted but not committed yet.
    return [];
  }
}

function unusedExports(): string[] {
  const used = new Map<string, Set<string>>();
  const use = (from: string, specifier: string, names: string[]) => {
    const target = resolveModule(from, specifier);
    if (!target) return;
    const all = used.get(target) ?? new Set();
    used.set(target, all);
    for (const name of names) all.add(name);
  };
  for (const [file, source] of sources) {
    for (const [, names = "", specifier = ""] of source.matchAll(
      /^(?:import|export)(?: type)? (?:[\w$]+, )?\{([^}]*)\} from "([^"]+)"/gm,
    )) {
      use(file, specifier, names.split(",").map(importedName));
    }
    for (const [, clause = "", specifier = ""] of source.matchAll(
      /^(?:import|export) (?:type )?([\w$*][^{}"]*?) from "([^"]+)"/gm,
    )) {
      use(file, specifier, [clause.includes("*") ? "*" : "default"]);
    }
    for (const [, specifier = ""] of source.matchAll(/\bimport\(\s*(?:\/\*[^*]*\*\/\s*)?"([^"]+)"/g))
      use(file, specifier, ["*"]);
    for (const [, specifier = ""] of source.matchAll(/^import "([^"]+)"/gm)) use(file, specifier, []);
  }
  return [...sources].flatMap(([file, source]) => {
    const names = used.get(file) ?? new Set();
    if (names.has("*") || entryPoints.some((pattern) => pattern.test(file))) return [];
    return exportedNames(source)
      .filter((name) => !names.has(name) && !isUsedWithin(source, name))
      .map((name) => `${file}: export \`${name}\` is not used`);
  });
}

/** Returns true if the module itself uses an export, for instance as a type of a function's parameters. */
function isUsedWithin(source: string, name: string): boolean {
  return source.split(new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`)).length > 2;
}

/** Returns the name of the export in an import clause: `A` for `type A as B`. */
function importedName(clause: string): string {
  return (
    clause
      .trim()
      .replace(/^type /, "")
      .split(" as ")[0] ?? ""
  );
}

function exportedNames(source: string): string[] {
  const declared = source.matchAll(
    /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm,
  );
  const listed = [...source.matchAll(/^export (?:type )?\{([^}]*)\};$/gm)].flatMap(([, names = ""]) =>
    names.split(",").map((clause) => clause.trim().split(" as ").at(-1) ?? ""),
  );
  const byDefault = /^export default /m.test(source) ? ["default"] : [];
  return [...[...declared].map(([, name = ""]) => name), ...listed, ...byDefault].filter(Boolean);
}

/** Returns the file of a specifier, relative to the root, or undefined for packages. */
function resolveModule(from: string, specifier: string): string | undefined {
  const path = specifier.startsWith("#")
    ? `${specifier.slice(1)}.ts`
    : specifier.startsWith(".")
      ? posix.join(posix.dirname(from), specifier)
      : undefined;
  if (path === undefined) return undefined;
  return [path, `${path}.ts`, `${path}.tsx`, `${path.slice(0, -3)}.tsx`].find((candidate) =>
    known.has(candidate),
  );
}

function unusedDependencies(): string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    "scripts" | "dependencies" | "devDependencies" | "optionalDependencies",
    Record<string, string>
  >;
  const text = [...sources.values(), ...Object.values(manifest.scripts)].join("\n");
  /** Package → text that indicates its use, for programs and for packages that are never imported. */
  const commands: Record<string, string> = {
    "@biomejs/biome": "biome",
    typescript: "tsc",
    "react-dom": "next",
  };
  const names = [manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies].flatMap(
    (list) => Object.keys(list),
  );
  return names
    .filter((name) => {
      // The Node of each platform runs the programs that say `node`.
      const program = commands[name] ?? name.replace(/^node-(linux|darwin|win)-\w+$/, "node ");
      const typed = name.startsWith("@types/") ? name.slice("@types/".length) : null;
      return !(typed === null ? text.includes(program) : typed === "node" || text.includes(typed));
    })
    .map((name) => `package.json: \`${name}\` is not used`);
}

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Expression, parseSync, Visitor } from "oxc-parser";

/** One import of a module, or one export of another module's names. */
export interface Import {
  /** Path of a module of this repository from its root, or the specifier of a package. */
  to: string;
  isPackage: boolean;
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
 * Returns what a module imports: by declarations, by `import()`, in types, and what it exports of others.
 *
 * @param file its path from the root, with `/`
 * @param known the paths of all modules
 * @throws Error if the source does not parse
 */
export function importsOf(file: string, source: string, known: ReadonlySet<string>): Import[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const found: Import[] = [];
  const add = (specifier: string | null, isTypeOnly: boolean) => {
    if (specifier !== null) found.push({ ...resolved(file, specifier, known), isTypeOnly });
  };
  new Visitor({
    ImportDeclaration({ source, importKind, specifiers }) {
      const areTypes = specifiers.map((one) => one.type === "ImportSpecifier" && one.importKind === "type");
      add(source.value, importKind === "type" || (areTypes.length > 0 && areTypes.every(Boolean)));
    },
    ExportNamedDeclaration({ source, exportKind }) {
      if (source) add(source.value, exportKind === "type");
    },
    ExportAllDeclaration: ({ source, exportKind }) => add(source.value, exportKind === "type"),
    ImportExpression: ({ source }) => add(textOf(source), false),
    TSImportType: ({ source }) => add(source.value, true),
    TSExternalModuleReference: ({ expression }) => add(expression.value, false),
  }).visit(program);
  return found;
}

/** The text of a literal; null for what is computed. */
function textOf(node: Expression): string | null {
  if (node.type === "ParenthesizedExpression") return textOf(node.expression);
  if (node.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? null;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

function resolved(file: string, specifier: string, known: ReadonlySet<string>): Omit<Import, "isTypeOnly"> {
  const [, room, rest] = /^#(server|db|words)\/(.+)$/.exec(specifier) ?? [];
  if (!room && !specifier.startsWith(".")) return { to: specifier, isPackage: true };
  const path = room ? `${room}/${rest}.ts` : posix.join(posix.dirname(file), specifier);
  return { to: known.has(path) ? path : path.replace(/\.js$/, ".ts"), isPackage: false };
}

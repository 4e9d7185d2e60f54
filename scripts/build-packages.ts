import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin, transform } from "esbuild";
import { byFunction, lazily } from "./bundling.ts";
import { reachedDeclarations } from "./declarations.ts";

/**
 * `npm run packages`: builds the packages in `packages/` into their `dist/`. The service needs none of them, so
 * `npm start` does not build them. With a folder, `npm run packages -- <folder>`, it also packs them and the service
 * there, as a registry would hold them.
 */

const root = dirname(import.meta.dirname);
const modules = join(root, "node_modules");

/** Style sheets of the packages, in order. */
const styleSheets = [
  "ui/theme",
  "ui/page",
  "embed/embed",
  "ui/state",
  "ui/button",
  "ui/field",
  "ui/code-input",
  "ui/alert",
  "ui/disclosure",
  "ui/provider-mark",
  "ui/recovery-codes",
  "ui/account",
];

/** The files that a package consists of, by their paths in `dist/`, and what they were made from. */
export interface BuiltPackage {
  folder: string;
  metafile: Metafile;
}

/**
 * Builds `@stile-auth/react`: modules without React, one style sheet, and declarations.
 *
 * @param folder emptied first
 */
export async function buildReact(folder: string): Promise<BuiltPackage> {
  const { metafile } = await bundle(folder, {
    entryPoints: { index: join(root, "packages", "react", "src", "index.tsx") },
    external: ["react", "react/jsx-runtime", "react-dom"],
    banner: { js: '"use client";' },
  });
  writeFileSync(join(folder, "stile.css"), await packageStyles());
  // The style sheet is imported for its effect; without a declaration the compiler refuses the import.
  writeFileSync(join(folder, "stile.css.d.ts"), "export {};\n");
  writeDeclarations(folder, ["packages/react/src/index.tsx"]);
  return { folder, metafile };
}

/**
 * Builds `@stile-auth/element`: one module with everything that a login needs, and beside it one file per language and
 * what few states need.
 *
 * @param folder emptied first
 */
export async function buildElement(folder: string): Promise<BuiltPackage> {
  const { metafile } = await bundle(folder, {
    entryPoints: { "stile-element": join(root, "packages", "element", "src", "stile-element.tsx") },
    alias: {
      react: "preact/compat",
      "react/jsx-runtime": "preact/jsx-runtime",
      "react-dom": "preact/compat",
      "react-dom/client": "preact/compat/client",
    },
  });
  writeDeclarations(folder, ["packages/element/src/stile-element.tsx"]);
  return { folder, metafile };
}

/** The context of a procedure is the service's own: a client of the router needs none of it. */
const withoutContext = { "server/http/trpc/context.d.ts": "export type Context = object;\n" };

/**
 * Builds `@stile-auth/server`: one readable module, which imports `jose`, and declarations, that of the tRPC router
 * among them.
 *
 * @param folder emptied first
 */
export async function buildServer(folder: string): Promise<void> {
  const sources = "packages/server/src";
  rmSync(folder, { recursive: true, force: true });
  await build({
    bundle: true,
    packages: "external",
    format: "esm",
    target: "es2022",
    platform: "neutral",
    absWorkingDir: root,
    entryPoints: [`${sources}/stile.ts`, `${sources}/trpc.ts`],
    outdir: folder,
    logLevel: "warning",
  });
  writeDeclarations(folder, [`${sources}/stile.ts`, `${sources}/trpc.ts`], withoutContext);
}

/**
 * Builds `@stile-auth/testing`: the kit of the installed service, so that both are of one version.
 *
 * @param folder emptied first
 */
export function buildTesting(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["index.js", "index.d.ts"])
    writeFileSync(join(folder, name), 'export * from "@stile-auth/stile/testing";\n');
}

async function bundle(
  folder: string,
  options: Omit<BuildOptions, "entryPoints"> & { entryPoints: Record<string, string> },
): Promise<{ metafile: Metafile }> {
  const [entry = ""] = Object.values(options.entryPoints);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    bundle: true,
    minify: true,
    splitting: true,
    metafile: true,
    format: "esm",
    target: "es2022",
    absWorkingDir: root,
    outdir: folder,
    jsx: "automatic",
    logLevel: "warning",
    chunkNames: "stile-[name]-[hash]",
    legalComments: "none",
    charset: "utf8",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [besideEntry(entry), lazily, byFunction, wordsOfLogin, withStyles],
    ...options,
  });
  if (!metafile) throw new Error("esbuild gave no metafile");
  writeFileSync(join(folder, "NOTICES.txt"), noticesOf(metafile));
  return { metafile };
}

/**
 * Keeps what is loaded at once in one file. esbuild puts modules into a file with those that the same entry points reach, so
 * each part that the components load later would cut what it shares with them out of the first file: eleven small files,
 * which compress worse than one. Here each such part reaches all that the entry point does.
 */
function besideEntry(entry: string): Plugin {
  return {
    name: "beside entry",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) =>
        kind === "dynamic-import" ? { path: resolve(resolveDir, path), namespace: "beside" } : null,
      );
      // Resolved here, because an import for its effects alone is dropped where `package.json` says that it has none.
      onResolve({ filter: /.*/ }, ({ path, kind }) => (kind === "entry-point" ? { path } : null));
      onLoad({ filter: /.*/, namespace: "beside" }, ({ path }) => ({
        resolveDir: dirname(path),
        contents: `import ${JSON.stringify(entry)}; export * from ${JSON.stringify(path)};`,
      }));
    },
  };
}

/**
 * Leaves out of the words of a login the texts of pages that the server sends in place of a flow, and those of the account
 * page, which are loaded with it.
 */
const wordsOfLogin: Plugin = {
  name: "words of a login",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /(account|messages)\.ts$/ }, ({ path, importer }) =>
      // A module for each language: one that all share would be a file of its own.
      /[\\/]words[\\/][\w-]+[\\/]flow\.ts$/.test(importer)
        ? { path: importer + path, namespace: "of login" }
        : null,
    );
    onLoad({ filter: /.*/, namespace: "of login" }, () => ({
      contents: `export const account = {}, messages = {};
        export const withAccount = (words) => ({ ...words, afterProof: {}, sections: {} });`,
    }));
  },
};

/** Gives the element the style sheets as a text. */
const withStyles: Plugin = {
  name: "styles",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/styles\.css$/ }, ({ path }) => ({ path, namespace: "styles" }));
    onLoad({ filter: /.*/, namespace: "styles" }, async () => ({
      contents: await packageStyles(),
      loader: "text",
    }));
  },
};

/**
 * All style sheets as one. The custom properties of the theme are set on the component, without specificity, so that a
 * page sets its own on `.stile-embed`; rules of the page for bare elements do not reach into it.
 */
export async function packageStyles(): Promise<string> {
  const [theme = "", ...others] = styleSheets.map((name) =>
    readFileSync(join(root, "components", `${name}.css`), "utf8"),
  );
  const css = [themeOfComponent(theme), reset, ...others].join("\n");
  const { code } = await transform(css, { loader: "css", minify: true, target: "es2022" });
  return code;
}

/** `all: revert` also undoes the attributes of drawings, so these are left out, and `hidden`, which is set again. */
const reset = `
  .stile-embed :where(:not(svg, svg *, img)) { all: revert; }
  .stile-embed :where([hidden]) { display: none; }
  .stile-embed, .stile-embed :where(*), .stile-embed :where(*)::before, .stile-embed :where(*)::after {
    box-sizing: border-box;
  }`;

/** The theme for a component: `theme` decides between light and dark, else the browser. */
function themeOfComponent(theme: string): string {
  const sets = [...theme.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, declarations = ""]) =>
    declarations.replace(/color-scheme:[^;]*;/, ""),
  );
  const [light = "", dark = ""] = sets;
  if (sets.length !== 2) throw new Error("theme.css has one set of properties for light and one for dark");
  return `
    :where(.stile-embed) { ${light} }
    @media (prefers-color-scheme: dark) { :where(.stile-embed:not([data-theme="light"])) { ${dark} } }
    :where(.stile-embed[data-theme="dark"]) { ${dark} }`;
}

/**
 * Writes the declarations that entry points reach, as the compiler makes them.
 *
 * @param sources paths of the entry points in the repository
 * @param replaced declarations in place of those of the compiler, by their paths
 */
function writeDeclarations(folder: string, sources: string[], replaced: Record<string, string> = {}): void {
  const emitted = join(folder, "emitted");
  mkdirSync(emitted, { recursive: true });
  const settings = {
    extends: join(root, "tsconfig.packages.json"),
    compilerOptions: { rootDir: root, outDir: emitted, typeRoots: [join(modules, "@types")] },
    files: [join(root, "packages/element/src/styles.d.ts"), ...sources.map((source) => join(root, source))],
  };
  writeFileSync(join(emitted, "tsconfig.json"), JSON.stringify(settings));
  const tsc = join(modules, "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", join(emitted, "tsconfig.json")], { cwd: root });
  const entries = sources.map((source) => source.replace(/\.tsx?$/, ".d.ts"));
  for (const [file, text] of reachedDeclarations(emitted, entries, replaced)) {
    const to = join(folder, "types", file);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  }
  rmSync(emitted, { recursive: true });
}

/** The licences of the packages in a bundle. */
function noticesOf({ inputs }: Metafile): string {
  const names = Object.keys(inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  const works = [...new Set(names)].sort().map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as {
      version: string;
      license: string;
    };
    const file = readdirSync(join(modules, name)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(modules, name, file), "utf8") : "";
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return ["This package contains the following works.\n", ...works].join("\n----------\n\n");
}

/** The packages, with what builds each into a folder. */
export const builders = {
  element: buildElement,
  react: buildReact,
  server: buildServer,
  testing: buildTesting,
} as const;

/** Copies the licence of the repository into the folder of a package: npm packs no file from outside of it. */
function license(folder: string): void {
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * Packs packages that are built, without the scripts that would build them again.
 *
 * @param folders of the packages
 * @param destination made where it does not exist
 * @returns the paths of the files
 */
export function pack(folders: readonly string[], destination: string): string[] {
  mkdirSync(destination, { recursive: true });
  for (const folder of folders.filter((folder) => folder !== root)) license(folder);
  const written = execFileSync(
    "npm",
    ["pack", ...folders, "--ignore-scripts", "--json", "--pack-destination", destination],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], shell: process.platform === "win32" },
  );
  const packed = Object.values(JSON.parse(written)).flat() as { filename: string }[];
  return packed.map(({ filename }) => join(destination, filename));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , destination] = process.argv;
  const folders = Object.keys(builders).map((name) => join(root, "packages", name));
  for (const [name, make] of Object.entries(builders)) await make(join(root, "packages", name, "dist"));
  for (const folder of folders) license(folder);
  if (destination) {
    execFileSync(process.execPath, ["scripts/run.js", "scripts/build.ts", "--when-needed"], {
      cwd: root,
      stdio: "inherit",
    });
    for (const file of pack([root, ...folders], resolve(destination))) process.stdout.write(`${file}\n`);
  }
}

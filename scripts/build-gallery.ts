import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);

/**
 * Builds what `/dev/theme` and the tests of directions show: the gallery with React, for the server, and the style sheet
 * of the pages.
 *
 * @param folder takes `gallery.mjs` and `pages.css`
 */
export async function buildGallery(folder = join(root, "dist", "gallery")): Promise<void> {
  await build({
    ...{ bundle: true, minify: true, format: "esm", platform: "node", target: "node22" },
    ...{ absWorkingDir: root, outdir: folder, outExtension: { ".js": ".mjs" }, charset: "utf8" },
    ...{ jsx: "automatic", logLevel: "warning", legalComments: "none" },
    define: { "process.env.NODE_ENV": '"production"' },
    entryPoints: {
      gallery: join(root, "components", "gallery", "draw-gallery.tsx"),
      pages: join(root, "hosted", "drawing", "styles.css"),
    },
    // React's code is CommonJS, and requires modules of Node.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildGallery();

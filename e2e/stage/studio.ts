import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Page } from "@playwright/test";
import { build } from "esbuild";
import { buildElement, packageStyles } from "../../scripts/build-packages.ts";
import type { Embedding, Shown } from "./stage.tsx";

/** Documents in which a browser draws what the gallery holds, with the scripts and style sheets that users get. */
export interface Studio {
  /** Opens the document of an embedding. */
  open(page: Page, embedding: Embedding): Promise<void>;
}

const origin = "https://login.example";
const types: Record<string, string> = { ".js": "text/javascript", ".css": "text/css" };

/** Builds the documents. The stage holds no server: the scripts are answered by the gallery. */
export async function buildStudio(): Promise<Studio> {
  const folder = mkdtempSync(join(tmpdir(), "stile-stage-"));
  const here = import.meta.dirname;
  await buildElement(join(folder, "element"));
  await build({
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    logLevel: "warning",
    absWorkingDir: join(here, "../.."),
    outdir: folder,
    charset: "utf8",
    entryPoints: {
      stage: join(here, "stage.tsx"),
      pages: join(here, "../../hosted/drawing/styles.css"),
    },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const files = new Map<string, string>([["/package.css", await packageStyles()]]);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    if (extname(name) in types) files.set(`/${name}`, readFileSync(join(folder, name), "utf8"));
  rmSync(folder, { recursive: true });
  const documents: Record<Embedding, string> = {
    page: '<link rel="stylesheet" href="/pages.css">',
    frame: '<link rel="stylesheet" href="/pages.css">',
    react: '<link rel="stylesheet" href="/package.css">',
    element: '<script type="module" src="/element/stile-element.js"></script>',
  };
  return {
    async open(page, embedding) {
      await page.unrouteAll();
      await page.route(`${origin}/**`, (route) => {
        const { pathname } = new URL(route.request().url());
        if (pathname.startsWith("/users/pictures/"))
          return route.fulfill({ body: portrait, contentType: "image/svg+xml" });
        const body = files.get(pathname);
        if (body !== undefined)
          return route.fulfill({ body, contentType: types[extname(pathname)] ?? "text/plain" });
        return route.fulfill({
          contentType: "text/html; charset=utf-8",
          body: documentOf(documents[embedding]),
        });
      });
      await page.goto(`${origin}/`);
      await page.waitForFunction(() => window.stage !== undefined);
    },
  };
}

const portrait = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="#c9b79c" d="M0 0h8v8H0z"/>
<circle cx="4" cy="3" r="1.5" fill="#4a3f35"/><path fill="#4a3f35" d="M1 8a3 3 0 0 1 6 0z"/></svg>`;

function documentOf(head: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Stile</title>
${head}<script type="module" src="/stage.js"></script></head><body></body></html>`;
}

/** Draws one picture. */
export async function draw(page: Page, shown: Shown): Promise<void> {
  await page.evaluate((shown) => window.stage.draw(shown), shown);
}

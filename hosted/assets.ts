import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { projectPath } from "#server/lib/project-path";
import type { draw } from "./drawing/draw.tsx";

/** Names of the files of the pages; `scripts/build-pages.ts` writes this list. */
export interface PageAssets {
  style: string;
  icon: string;
  /** By part: the script that takes the page over, and the modules that it imports. Parts without a script have none. */
  scripts: Record<string, { entry: string; imports: string[] }>;
}

/** The built pages. */
export interface BuiltPages {
  assets: PageAssets;
  /** The style sheet of the pages. */
  styles: string;
  draw: typeof draw;
}

let loading: Promise<BuiltPages> | undefined;

/**
 * Loads what the build made of the pages, once.
 *
 * @throws Error if the pages are not built
 */
export function builtPages(): Promise<BuiltPages> {
  loading ??= load().catch((error: unknown) => {
    // The next request tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<BuiltPages> {
  const [list, program] = ["assets.json", "draw.js"].map((name) => projectPath("dist", "hosted", name));
  if (!list || !program) throw new Error("the pages are not built: npm run build");
  const assets = JSON.parse(readFileSync(list, "utf8")) as PageAssets;
  const styles = projectPath("dist", "hosted", "assets", assets.style);
  if (!styles) throw new Error("the pages have no style sheet: npm run build");
  const drawing = (await import(/* turbopackIgnore: true */ pathToFileURL(program).href)) as BuiltPages;
  return { assets, styles: readFileSync(styles, "utf8"), draw: drawing.draw };
}

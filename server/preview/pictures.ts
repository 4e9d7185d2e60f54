import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { LanguageWords } from "#words/language-words";
import { projectPath } from "../lib/project-path.ts";

/** A state as a user was shown it. */
export interface ShownState {
  flow: string;
  state: string;
  /** The actions that were offered. */
  actions: readonly string[];
  /** The code of the error that was shown. */
  error?: string | undefined;
  /** Names of the inputs that were sent. */
  inputs?: readonly string[] | undefined;
}

/** What a picture is drawn with. */
export interface PictureOptions {
  words: LanguageWords;
  /** BCP 47 tag of the words. */
  language: string;
  /** The display name of the service. */
  service: string;
}

/** What the build made of `hosted/drawing/draw-gallery.tsx`, which this room does not import. */
interface BuiltGallery {
  /** Every picture of the gallery, with the state that it shows; null for a page beside the states. */
  pictures: readonly { name: string; state: string | null }[];
  /** @returns null if there is no picture of that name */
  drawPicture(name: string, options: PictureOptions): string | null;
  drawShownState(shown: ShownState, options: PictureOptions): string;
  /** Name of the style sheet of the pages in `/assets/`. */
  style: string;
  /** The style sheet itself. */
  styles: string;
}

let loading: Promise<BuiltGallery> | undefined;

/**
 * Loads the gallery with React, on first use.
 *
 * @throws Error if the pages are not built
 */
export function builtGallery(): Promise<BuiltGallery> {
  loading ??= load().catch((error: unknown) => {
    // The next request tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<BuiltGallery> {
  const [list, program] = ["assets.json", "draw-gallery.js"].map((name) =>
    projectPath("dist", "hosted", name),
  );
  if (!list || !program) throw new Error("the pages are not built: npm run build");
  const { style } = JSON.parse(readFileSync(list, "utf8")) as Pick<BuiltGallery, "style">;
  const sheet = projectPath("dist", "hosted", "assets", style);
  if (!sheet) throw new Error("the pages have no style sheet: npm run build");
  const { pictures, drawPicture, drawShownState } = (await import(
    /* turbopackIgnore: true */ pathToFileURL(program).href
  )) as BuiltGallery;
  return { pictures, drawPicture, drawShownState, style, styles: readFileSync(sheet, "utf8") };
}

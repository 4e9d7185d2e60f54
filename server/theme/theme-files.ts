import { createHash } from "node:crypto";
import type { Config } from "../config/schema.ts";

type Theme = Config["theme"];

/** A file of a theme, which pages load from their own origin. */
export interface ThemeFile {
  mediaType: string;
  content: string | Uint8Array<ArrayBuffer>;
}

/** The files that a theme may have. Their names are the last segment of their addresses. */
export const themeFileNames = ["logo-light", "logo-dark", "favicon"] as const;
export type ThemeFileName = (typeof themeFileNames)[number];

/** The files of a theme under its addresses. */
export interface ThemeFiles {
  /** Changes with the content of any file, so that browsers may keep files for good. */
  version: string;
  files: ReadonlyMap<ThemeFileName, ThemeFile>;
}

const prepared = new WeakMap<Theme, ThemeFiles>();

/** Returns the files of a theme, prepared once for each configuration. */
export function themeFiles(theme: Theme): ThemeFiles {
  const known = prepared.get(theme);
  if (known) return known;
  const { logo, favicon } = theme;
  const all: [ThemeFileName, ThemeFile | null][] = [
    ["logo-light", imageOf(logo.light)],
    ["logo-dark", imageOf(logo.dark)],
    ["favicon", imageOf(favicon)],
  ];
  const files = new Map(all.filter((entry): entry is [ThemeFileName, ThemeFile] => entry[1] !== null));
  const hash = createHash("sha256");
  for (const [name, { content }] of files) hash.update(name).update(content);
  const made = { version: hash.digest("base64url").slice(0, 16), files };
  prepared.set(theme, made);
  return made;
}

/** Decodes a data: URL (RFC 2397) of the form that the configuration accepts. */
function imageOf(url: string | undefined): ThemeFile | null {
  const [, mediaType, data] = /^data:([^;]+);base64,(.+)$/.exec(url ?? "") ?? [];
  return mediaType && data ? { mediaType, content: new Uint8Array(Buffer.from(data, "base64")) } : null;
}

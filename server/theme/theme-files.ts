import { createHash } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";

/** A file of a theme, which pages load from their own origin. */
export interface ThemeFile {
  mediaType: string;
  content: string | Uint8Array<ArrayBuffer>;
}

/** The files that a theme may have. Their names are the last segment of their addresses. */
export const themeFileNames = ["logo-light", "logo-dark", "favicon"] as const;
export type ThemeFileName = (typeof themeFileNames)[number];

/** The files of a tenant. */
export interface VersionedFiles<Name extends string> {
  /** Changes with the content of any file, so that browsers may keep files for good. */
  version: string;
  files: ReadonlyMap<Name, ThemeFile>;
}

/** Returns the files of a theme, prepared once for each configuration. */
export const themeFiles = onceFor(
  ({ logo, favicon }: Config["theme"]): VersionedFiles<ThemeFileName> =>
    versioned([
      ["logo-light", imageOf(logo.light)],
      ["logo-dark", imageOf(logo.dark)],
      ["favicon", imageOf(favicon)],
    ]),
);

/** Makes files of those that there are. */
export function versioned<Name extends string>(all: [Name, ThemeFile | null][]): VersionedFiles<Name> {
  const files = new Map(all.filter((entry): entry is [Name, ThemeFile] => entry[1] !== null));
  const hash = createHash("sha256");
  for (const [name, { content }] of files) hash.update(name).update(content);
  return { version: hash.digest("base64url").slice(0, 16), files };
}

/** Decodes a data: URL (RFC 2397) of the form that the configuration accepts. */
function imageOf(url: string | undefined): ThemeFile | null {
  const [, mediaType, data] = /^data:([^;]+);base64,(.+)$/.exec(url ?? "") ?? [];
  return mediaType && data ? { mediaType, content: new Uint8Array(Buffer.from(data, "base64")) } : null;
}

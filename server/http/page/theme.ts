import { wordFiles } from "../../theme/own-words.ts";
import { type ThemeFile, themeFiles } from "../../theme/theme-files.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/**
 * `GET /theme/{version}/{file}`: a file of the tenant's theme, or of its own texts. The version is part of the address, so browsers keep the
 * file for a year; a page of an older version, which is still open, gets the current file, and does not keep it.
 */
export const themeHandler: Handler = ({ tenant, params }) => {
  const { theme, words } = tenant.config;
  const { file: name = "" } = params;
  const { version, files }: { version: string; files: ReadonlyMap<string, ThemeFile> } = name.startsWith(
    "words-",
  )
    ? wordFiles(words)
    : themeFiles(theme);
  const file = files.get(name);
  if (!file) return plainError(404, "This theme has no such file.");
  const kept = params.version === version;
  return new Response(file.content, {
    headers: {
      "Content-Type": file.mediaType,
      "Cache-Control": kept ? "public, max-age=31536000, immutable" : "no-store",
      // An SVG that is opened by itself runs and loads nothing.
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
    },
  });
};

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { type ContentEncoding, contentEncodings } from "../../lib/content-encoding.ts";
import { projectPath } from "../../lib/project-path.ts";
import { plainError } from "../answer/reply.ts";
import { responseEncoding } from "../answer/response-encoding.ts";
import type { Handler } from "../table/handler-context.ts";

/** A file of the pages, as it is and compressed by the build. */
type Asset = { mediaType: string; plain: Buffer<ArrayBuffer> } & Partial<
  Record<ContentEncoding, Buffer<ArrayBuffer>>
>;

const mediaTypes: Partial<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

let assets: ReadonlyMap<string, Asset> | null = null;

/** Reads the files of the build, of which there are few. Others in the folder are not served. Null before the build. */
function readAssets(): ReadonlyMap<string, Asset> | null {
  // The build writes the list of them after them.
  const isBuilt = projectPath("dist", "hosted", "assets.json") !== null;
  const folder = isBuilt ? projectPath("dist", "hosted", "assets") : null;
  if (folder === null) return null;
  return new Map(
    readdirSync(/* turbopackIgnore: true */ folder).flatMap((name): [string, Asset][] => {
      const mediaType = mediaTypes[extname(name)];
      if (mediaType === undefined) return [];
      const path = join(folder, name);
      const encoded = contentEncodings
        .filter((encoding) => existsSync(/* turbopackIgnore: true */ `${path}.${encoding}`))
        .map((encoding) => [encoding, readFileSync(/* turbopackIgnore: true */ `${path}.${encoding}`)]);
      return [
        [
          name,
          {
            mediaType,
            plain: readFileSync(/* turbopackIgnore: true */ path),
            ...Object.fromEntries(encoded),
          },
        ],
      ];
    }),
  );
}

/**
 * `GET /assets/{file}`: a script, the style sheet or the icon of the pages. Its name contains a digest of its content, so
 * browsers keep it for a year.
 */
export const assetHandler: Handler = ({ request, params }) => {
  assets ??= readAssets();
  const asset = assets?.get(params.file ?? "");
  if (!asset) return plainError(404, "Not found.");
  const encoding = responseEncoding(request.headers);
  const encoded = encoding && asset[encoding];
  return new Response(encoded || asset.plain, {
    headers: {
      "Content-Type": asset.mediaType,
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
      ...(encoded ? { "Content-Encoding": encoding } : {}),
    },
  });
};

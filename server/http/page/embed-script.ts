import { readFileSync } from "node:fs";
import { projectPath } from "../../lib/project-path.ts";
import type { Handler } from "../handler-context.ts";
import { plainError } from "../reply.ts";

let script: string | undefined;

/**
 * `GET /embed.js`: the loader of the frame, for pages of any origin. It is cached shortly, because its address never
 * changes; `crossorigin` lets a page check its integrity (Subresource Integrity).
 */
export const embedScriptHandler: Handler = () => {
  const file = projectPath("components", "frame", "embed.js");
  if (file === null) return plainError(404, "Not found.");
  script ??= readFileSync(file, "utf8");
  return {
    status: 200,
    body: script,
    headers: {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "public, max-age=600",
      "Cross-Origin-Resource-Policy": "cross-origin",
      "Access-Control-Allow-Origin": "*",
    },
  };
};

import { readFileSync } from "node:fs";
import { projectPath } from "../../lib/project-path.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/**
 * A script for pages of any origin. It is cached shortly, because its address never changes; `crossorigin` lets a page
 * check its integrity (Subresource Integrity).
 *
 * @param name its file in `dist/hosted`
 */
function embedScript(name: string): Handler {
  let script: string | undefined;
  return () => {
    if (script === undefined) {
      const file = projectPath("dist", "hosted", name);
      if (file === null) return plainError(404, "Not found.");
      script = readFileSync(file, "utf8");
    }
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
}

/** `GET /embed.js`: the loader of the frame. */
export const loaderHandler = embedScript("embed.js");

/** `GET /embed-sign-in.js`: the part of the loader that signs in behind a button of a page. */
export const loaderPartHandler = embedScript("embed-sign-in.js");

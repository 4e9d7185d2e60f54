import { hashSource } from "../../lib/hash-source.ts";
import { previewDocument, previewScript } from "../../preview/preview-document.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";
import { isOfConsole } from "./sign-in.ts";
import { presentedVisitor } from "./visitor.ts";

/** The document is the same until the service is updated, so a page with many frames asks once. */
const MAX_AGE_SECONDS = 300;

/**
 * `GET /api/console/preview`: the document in which pages of the console display pictures of hosted pages. Pages of this
 * origin alone may frame it. It runs its own script alone, in an origin of its own, and loads nothing.
 */
export const consolePreview: Handler = async (context) => {
  if (!isOfConsole(context)) return plainError(404, "Not found.");
  if (!(await presentedVisitor(context.runtime, context.cookies)))
    return plainError(401, "Sign in to the console.");
  const { markup, styles } = await previewDocument();
  return {
    status: 200,
    body: markup,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": `private, max-age=${MAX_AGE_SECONDS}`,
      "Content-Security-Policy": [
        "default-src 'none'",
        `script-src ${hashSource(previewScript)}`,
        `style-src ${hashSource(styles)}`,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-scripts",
      ].join("; "),
    },
  };
};

import { acceptedEncoding, type ContentEncoding } from "../../lib/content-encoding.ts";
import type { RequestHeaders } from "../request/api-request.ts";

/**
 * The encoding that an answer to a request is compressed with; null for none. Next removes `Content-Encoding` from the
 * answers of handlers, so the platform or a proxy in front has to compress them.
 */
export function responseEncoding(request: RequestHeaders): ContentEncoding | null {
  return process.env.NEXT_RUNTIME === undefined ? acceptedEncoding(request.get("accept-encoding")) : null;
}

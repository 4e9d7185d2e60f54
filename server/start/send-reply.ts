import type { ServerResponse } from "node:http";
import type { Reply } from "../http/reply.ts";

/**
 * Writes a complete reply. Head and body are one write to the socket, and no web-standard response is made of them.
 *
 * @throws a TypeError of Node for a header that cannot be sent; then nothing was written
 */
export function sendReply(outgoing: ServerResponse, { status, body, headers, cookies }: Reply): void {
  const head: Record<string, string | number | string[]> = { ...headers };
  if (cookies && cookies.length > 0) head["Set-Cookie"] = cookies;
  if (body !== undefined) head["Content-Length"] ??= Buffer.byteLength(body);
  outgoing.writeHead(status, head).end(body);
}

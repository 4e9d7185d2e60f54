import type { ServerResponse } from "node:http";
import type { Reply } from "./reply.ts";

/** Complete answers that wait for the end of this turn of the event loop. */
let waiting: { outgoing: ServerResponse; body: string | undefined }[] = [];

/**
 * Writes a complete reply at the end of this turn of the event loop. Head and body are one write to the socket, and no
 * web-standard response is made of them.
 *
 * The answers of one turn are written in a row: a proxy or client on the same machine that sleeps is woken once for all
 * of them, and a wake-up costs more than anything else of a small answer.
 *
 * @throws a TypeError of Node for a header that cannot be sent; then nothing is written
 */
export function sendReply(outgoing: ServerResponse, { status, body, headers, cookies }: Reply): void {
  const head: Record<string, string | number | string[]> = { ...headers };
  if (cookies && cookies.length > 0) head["Set-Cookie"] = cookies;
  if (body !== undefined) head["Content-Length"] ??= Buffer.byteLength(body);
  outgoing.writeHead(status, head);
  if (waiting.push({ outgoing, body }) === 1) setImmediate(writeWaiting);
}

function writeWaiting(): void {
  const ready = waiting;
  waiting = [];
  for (const { outgoing, body } of ready) outgoing.end(body);
}

import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

/**
 * A route handler of Next is not told who is at the other end of the connection, and `X-Forwarded-For` can be
 * written by anybody. So each request is given a header with the address as it comes in, under a name that nobody
 * outside this process knows.
 *
 * It is kept on `globalThis` because Next bundles several copies of this module.
 */
const slot = Symbol.for("stile.peer-header");

const holder = globalThis as { [slot]?: string };

/** Starts to note the address of every connection. Once is enough. */
export function notePeers(): void {
  if (holder[slot] !== undefined) return;
  const name = `x-peer-${randomUUID()}`;
  holder[slot] = name;
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    request.headers[name] = request.socket.remoteAddress ?? "";
  });
}

/**
 * The address of the other end of a request's connection: as it was noted, or on Vercel as the platform says, which
 * overwrites what a client sends.
 *
 * @returns the empty string when it is not known
 */
export function notedPeer(headers: Headers): string {
  if (process.env.VERCEL === "1") return headers.get("x-vercel-forwarded-for")?.split(",")[0] ?? "";
  const name = holder[slot];
  return (name && headers.get(name)) || "";
}

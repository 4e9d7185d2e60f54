import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";

/**
 * Next does not tell a route handler the address of the other end of the connection, and clients can forge
 * `X-Forwarded-For`. So each incoming request gets a header with that address, under a random name that is known to
 * this process only.
 *
 * The name is stored on `globalThis` because Next bundles several copies of this module.
 */
const slot = Symbol.for("stile.peer-header");

const holder = globalThis as { [slot]?: string };

/** Starts to record the address of every connection. Further calls do nothing. */
export function recordPeers(): void {
  if (holder[slot] !== undefined) return;
  const name = `x-peer-${randomUUID()}`;
  holder[slot] = name;
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    request.headers[name] = request.socket.remoteAddress ?? "";
  });
}

/**
 * The address of the other end of a request's connection: as recorded, or on Vercel from the platform's header, which
 * overwrites the value that a client sends.
 *
 * @returns the empty string if it is not known
 */
export function recordedPeer(headers: Headers): string {
  if (process.env.VERCEL === "1") return headers.get("x-vercel-forwarded-for")?.split(",")[0] ?? "";
  const name = holder[slot];
  return (name && headers.get(name)) || "";
}

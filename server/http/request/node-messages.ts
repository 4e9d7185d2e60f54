import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A request of `node:http` with its answer. */
export interface NodeMessages {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/**
 * Next gives a route handler neither the address of the other end of the connection, which clients can forge in
 * `X-Forwarded-For`, nor the messages of Node behind its `Request`. So each incoming request gets a header with its number
 * and that address, under a random name that is known to this process only.
 *
 * Name and messages are stored on `globalThis` because Next bundles several copies of this module.
 */
interface Record {
  name: string;
  /** Of unanswered requests, by the value of the header. */
  messages: Map<string, NodeMessages>;
}

const slot = Symbol.for("stile.node-messages");

const holder = globalThis as { [slot]?: Record };

/** Starts to record every request of this process. Further calls do nothing. */
export function recordMessages(): void {
  if (holder[slot]) return;
  const [name, messages] = [`x-message-${randomUUID()}`, new Map<string, NodeMessages>()];
  holder[slot] = { name, messages };
  let count = 0;
  subscribe("http.server.request.start", (message) => {
    const { request: incoming, response: outgoing } = message as {
      request: IncomingMessage;
      response: ServerResponse;
    };
    count += 1;
    const value = `${count} ${incoming.socket.remoteAddress ?? ""}`;
    incoming.headers[name] = value;
    messages.set(value, { incoming, outgoing });
    const values = valuesOf(incoming.socket, messages);
    values.add(value);
    outgoing.once("close", () => {
      messages.delete(value);
      values.delete(value);
    });
  });
}

/** The values of the unanswered requests of each connection. */
const ofConnections = new WeakMap<Socket, Set<string>>();

/** Before Node 24 an answer that waits for an earlier one on its connection does not close with the connection. */
function valuesOf(socket: Socket, messages: Record["messages"]): Set<string> {
  const known = ofConnections.get(socket);
  if (known) return known;
  const values = new Set<string>();
  ofConnections.set(socket, values);
  socket.once("close", () => {
    for (const value of values) messages.delete(value);
  });
  return values;
}

/** Vercel passes requests on to Next by means of its own, so that the process's messages are not those of the client. */
const isOnVercel = () => process.env.VERCEL === "1";

/**
 * The address of the other end of a request's connection: as recorded, or on Vercel from the platform's header, which
 * overwrites the value that a client sends.
 *
 * @returns the empty string if it is not known
 */
export function recordedPeer(headers: Headers): string {
  if (isOnVercel()) return headers.get("x-vercel-forwarded-for")?.split(",")[0] ?? "";
  return recorded(headers)?.split(" ")[1] ?? "";
}

/**
 * The messages of Node behind a web-standard request that was recorded.
 *
 * @returns null if they are not known, or something has read the body or begun the answer
 */
export function untouchedMessages(headers: Headers): NodeMessages | null {
  if (isOnVercel()) return null;
  const messages = holder[slot]?.messages.get(recorded(headers) ?? "");
  if (!messages || messages.outgoing.headersSent) return null;
  const { readableDidRead, readableFlowing } = messages.incoming;
  return readableDidRead || readableFlowing !== null ? null : messages;
}

function recorded(headers: Headers): string | null {
  const name = holder[slot]?.name;
  return name === undefined ? null : headers.get(name);
}

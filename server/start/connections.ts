import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { measure } from "../observability/metrics.ts";

/**
 * Limits what one connection can occupy. A client may send requests without waiting for answers (pipelining, RFC 9112,
 * 9.3.2), and may leave answers unread. Node starts every pipelined request at once, queues the answers, and forgets the
 * queued ones when the connection closes: files that they were to send stay open.
 */

/** Pipelined requests that may wait on one connection. Browsers and proxies send none. */
const MAX_WAITING_REQUESTS = 16;

/**
 * Makes a listener that handles one request of a connection at a time. The next one starts when the answer before it has
 * been sent, and never if the connection closes. A connection on which too many requests wait is closed.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();

  return (incoming, outgoing) => {
    // Node gives an answer its socket when it is the first of the queue.
    if (outgoing.socket) {
      handle(incoming, outgoing);
      return;
    }
    const { socket } = incoming;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    outgoing.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      startLater(handle, incoming, outgoing);
    });
  };
}

/** Lets other connections proceed first, so that a full queue does not delay them. */
function startLater(handle: RequestListener, incoming: IncomingMessage, outgoing: ServerResponse): void {
  setImmediate(() => {
    if (!outgoing.destroyed) handle(incoming, outgoing);
  });
}

/** Why the server ends a connection by itself. */
const endReasons = ["large_headers", "malformed", "slow", "unread"] as const;

/** Counts a connection that the server ends by itself. */
export function countEnded(reason: (typeof endReasons)[number]): void {
  measure("endedConnections", 1, { "stile.reason": reason });
}

/** Begins the counts with zero: the rate of a counter that begins with its first thousand tells nothing of these. */
export function beginCounts(): void {
  for (const reason of endReasons) measure("endedConnections", 0, { "stile.reason": reason });
}

/** Bytes a second that a client reads if it has something to read: fewer than by any modem. */
export const MIN_READ_RATE = 1_024;

/** The longest time of a timer of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Closes connections whose client reads nothing, or next to nothing, of an answer for a time, and idle ones when Node reports
 * them. A request whose answer is still being prepared may take longer, and so may a stream of which all is read.
 *
 * @param minRate bytes a second: see `MIN_READ_RATE`
 */
export function closeUnread(
  server: Server,
  milliseconds: number,
  minRate: number,
  running: ReadonlySet<ServerResponse>,
): void {
  closeSlow(server, milliseconds, minRate, running);
  server.setTimeout(milliseconds, (socket) => {
    const unread = socket.writableLength > 0;
    const prepared = unread || [...running].every((outgoing) => outgoing.socket !== socket);
    if (unread) countEnded("unread");
    if (prepared) socket.destroy();
    else socket.setTimeout(milliseconds);
  });
}

/** How far the client of an answer has read, when that was last looked at. */
interface Progress {
  /** Bytes that were written for it. */
  written: number;
  /** Bytes of them that were sent. */
  sent: number;
}

/**
 * Closes connections whose client has not read within a time what waited for it at its beginning, and less than the least rate
 * meanwhile.
 */
function closeSlow(
  server: Server,
  milliseconds: number,
  minRate: number,
  running: ReadonlySet<ServerResponse>,
): void {
  const progress = new WeakMap<Socket, Progress>();
  const minBytes = (minRate * milliseconds) / 1_000;
  let lookedAt = performance.now();
  const look = setInterval(
    () => {
      // A process that was held up has not sent either.
      const isLate = performance.now() - lookedAt > 1.5 * milliseconds;
      lookedAt = performance.now();
      for (const { socket } of running) {
        if (!socket) continue;
        const written = socket.bytesWritten;
        const sent = sentOn(socket, written);
        const before = progress.get(socket);
        progress.set(socket, { written, sent });
        if (!before || isLate || sent >= before.written || sent - before.sent >= minBytes) continue;
        countEnded("unread");
        socket.destroy();
      }
    },
    Math.min(milliseconds, MAX_TIMER_MS),
  ).unref();
  server.once("close", () => clearInterval(look));
}

/** How many bytes the operating system has taken, of one write that is under way a part. */
function sentOn(socket: Socket, written: number): number {
  // Not in the types of Node. By `writableLength`, a large answer is sent only once all of it is.
  const { _handle: handle } = socket as {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null;
  };
  if (handle?.bytesWritten === undefined || handle.writeQueueSize === undefined)
    return written - socket.writableLength;
  return handle.bytesWritten - handle.writeQueueSize;
}

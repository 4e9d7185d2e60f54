import { channel } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { recordedPeer, recordMessages, untouchedMessages } from "./node-messages.ts";

recordMessages();

/** Tells the process of a request on a connection, as `node:http` does; returns its headers as a handler sees them. */
function receive(socket: EventEmitter): { headers: Headers; outgoing: EventEmitter } {
  const outgoing = Object.assign(new EventEmitter(), { headersSent: false });
  const headers: Record<string, string> = {};
  const request = { headers, socket, readableDidRead: false, readableFlowing: null };
  channel("http.server.request.start").publish({ request, response: outgoing });
  return { headers: new Headers(headers), outgoing };
}

const connection = () => Object.assign(new EventEmitter(), { remoteAddress: "192.0.2.7" });

test("a request is known with the address of its connection until it is answered", () => {
  const { headers, outgoing } = receive(connection());
  expect(recordedPeer(headers)).toBe("192.0.2.7");
  expect(untouchedMessages(headers)?.outgoing).toBe(outgoing);
  outgoing.emit("close");
  expect(untouchedMessages(headers)).toBeNull();
});

test("A203 requests that wait on a connection are forgotten with it, although their answers do not close", () => {
  const socket = connection();
  const waiting = Array.from({ length: 300 }, () => receive(socket));
  const other = receive(connection());
  expect(socket.listenerCount("close")).toBe(1);
  socket.emit("close");
  expect(waiting.filter(({ headers }) => untouchedMessages(headers) !== null)).toEqual([]);
  expect(untouchedMessages(other.headers)).not.toBeNull();
});

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** A request as a receiver got it. */
export interface ReceivedDelivery {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Members of the body. */
  token: string;
  event: string;
  /** The `webhook-id` header. */
  id: string;
}

export interface WebhookReceiver {
  /** Its address, with the path `/events`. */
  url: string;
  port: number;
  /** Requests that were read completely, oldest first. */
  received: ReceivedDelivery[];
  /** Connections so far. */
  connections(): number;
  /** Replaces its behaviour, which is to answer 204. */
  answer: (response: ServerResponse, delivery: ReceivedDelivery) => void;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  tls?: { key: string; cert: string };
  /** Address to listen on; default: 127.0.0.1. */
  host?: string;
  /** Default: a free one. */
  port?: number;
}

/** Starts a receiver of webhooks, which knows nothing of the service but how HTTP is spoken. */
export async function startReceiver({
  tls,
  host = "127.0.0.1",
  port = 0,
}: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    read(request).then(
      (delivery) => {
        receiver.received.push(delivery);
        receiver.answer(response, delivery);
      },
      () => response.destroy(),
    );
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const receiver: WebhookReceiver = {
    url: `${tls ? "https" : "http"}://${host}:${bound}/events`,
    port: bound,
    received: [],
    connections: () => connections,
    answer: (response) => response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return receiver;
}

async function read(request: IncomingMessage): Promise<ReceivedDelivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const { token = "", event = "" } = body === "" ? {} : JSON.parse(body);
  const headers = request.headers as Record<string, string>;
  return { path: request.url ?? "", headers, body, token, event, id: headers["webhook-id"] ?? "" };
}

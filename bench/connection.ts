import { connect, type Socket } from "node:net";

/**
 * One kept-alive HTTP/1.1 connection that sends requests one after the other. Minimal, so that the server is
 * measured and not the client.
 */
export interface Connection {
  /** Resolves with the response; rejects when the connection breaks. */
  send(method: string, path: string, body?: string): Promise<{ status: number; body: string }>;
  close(): void;
}

/**
 * Opens a connection.
 *
 * @param headers sent with every request, for instance `{ cookie: "service=…" }`
 */
export async function openConnection(url: string, headers: Record<string, string> = {}): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket = await open(hostname, Number(port));
  const common = Object.entries({ host: `${hostname}:${port}`, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  let received = "";
  let waiting:
    | { resolve(answer: { status: number; body: string }): void; reject(error: Error): void }
    | undefined;

  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    received += chunk;
    const answer = parseAnswer(received);
    if (!answer) return;
    received = "";
    const { resolve } = waiting ?? {};
    waiting = undefined;
    resolve?.(answer);
  });
  const broken = (error?: Error) => waiting?.reject(error ?? new Error("the server closed the connection"));
  socket.on("error", broken);
  socket.on("close", () => broken());

  return {
    send(method, path, body) {
      const length = body === undefined ? 0 : Buffer.byteLength(body);
      const type = body === undefined ? "" : "content-type: application/json\r\n";
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `${method} ${path} HTTP/1.1\r\n${common}${type}content-length: ${length}\r\n\r\n${body ?? ""}`,
        );
      });
    },
    close: () => socket.destroy(),
  };
}

/**
 * A complete response in the bytes received so far, or undefined. Supports `Content-Length` and chunks (RFC 9112
 * section 7.1).
 */
function parseAnswer(text: string): { status: number; body: string } | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const head = text.slice(0, end).toLowerCase();
  const at = head.indexOf("\r\ncontent-length:");
  if (at >= 0) {
    const length = Number.parseInt(head.slice(at + 17), 10);
    return text.length >= end + 4 + length
      ? { status, body: text.slice(end + 4, end + 4 + length) }
      : undefined;
  }
  if (!head.includes("\r\ntransfer-encoding: chunked")) return { status, body: "" };
  let body = "";
  for (let from = end + 4; ; ) {
    const line = text.indexOf("\r\n", from);
    if (line < 0) return undefined;
    const size = Number.parseInt(text.slice(from, line), 16);
    if (text.length < line + 2 + size + 2) return undefined;
    if (size === 0) return { status, body };
    body += text.slice(line + 2, line + 2 + size);
    from = line + 2 + size + 2;
  }
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

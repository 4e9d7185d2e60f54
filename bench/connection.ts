import { connect, type Socket } from "node:net";

/**
 * One kept-alive HTTP/1.1 connection that sends requests one after the other. Minimal, so that the server is
 * measured and not the client.
 */
export interface Connection {
  /**
   * Resolves with the response; rejects when the connection breaks.
   *
   * @param body JSON, or a form
   * @param headers of this request, beside those of the connection
   */
  send(method: string, path: string, body?: string | URLSearchParams, headers?: string): Promise<Answer>;
  close(): void;
}

export interface Answer {
  status: number;
  /** Status line and header lines, without the empty line. */
  head: string;
  body: string;
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
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

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
    send(method, path, body, own = "") {
      const text = String(body ?? "");
      const media = body instanceof URLSearchParams ? "x-www-form-urlencoded" : "json";
      const type = body === undefined ? "" : `content-type: application/${media}\r\n`;
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `${method} ${path} HTTP/1.1\r\n${common}${own}${type}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
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
function parseAnswer(text: string): Answer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const head = text.slice(0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const until = end + 4 + Number(length);
    return text.length >= until ? { status, head, body: text.slice(end + 4, until) } : undefined;
  }
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return { status, head, body: "" };
  let body = "";
  for (let from = end + 4; ; ) {
    const line = text.indexOf("\r\n", from);
    if (line < 0) return undefined;
    const size = Number.parseInt(text.slice(from, line), 16);
    if (text.length < line + 2 + size + 2) return undefined;
    if (size === 0) return { status, head, body };
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

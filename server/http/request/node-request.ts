import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiRequest, RequestHeaders } from "./api-request.ts";

/** A message of `node:http` as the API reads it. */
export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: RequestHeaders;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #ended: AbortController | undefined;

  /** @param url default: the target of the message, which must be a path then */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, url?: URL) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.method = incoming.method ?? "GET";
    // Not the host of the request, since a crafted one could continue into the path.
    this.url = url ?? new URL(`http://localhost${incoming.url}`);
    this.headers = headersOf(incoming.rawHeaders);
  }

  get signal(): AbortSignal {
    if (this.#ended) return this.#ended.signal;
    const ended = new AbortController();
    this.#ended = ended;
    const outgoing = this.#outgoing;
    const end = () => {
      if (!outgoing.writableFinished) ended.abort(new Error("the client closed the connection"));
    };
    if (outgoing.destroyed) end();
    else outgoing.once("close", end);
    return ended.signal;
  }

  read(limit: number): Promise<Uint8Array | null> {
    const [incoming, outgoing] = [this.#incoming, this.#outgoing];
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      const settle = (body: Uint8Array | null) => {
        incoming.off("data", gather).off("end", end).off("close", cut);
        resolve(body);
      };
      const gather = (chunk: Uint8Array) => {
        size += chunk.byteLength;
        chunks.push(chunk);
        if (size <= limit) return;
        settle(null);
        // The rest is received and dropped until the answer is sent, since a client may read it only then.
        outgoing.shouldKeepAlive = false;
        incoming.resume();
      };
      const end = () => settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      const cut = () => reject(new Error("the client closed the connection"));
      incoming.on("data", gather).once("end", end).once("close", cut).once("error", reject);
      if (incoming.destroyed) cut();
    });
  }
}

/** @param raw names and values in turn, as they were received */
function headersOf(raw: readonly string[]): RequestHeaders {
  const fields = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const [name, value] = [(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""];
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? value : `${earlier}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return {
    get: (name) => fields.get(name.toLowerCase()) ?? null,
    has: (name) => fields.has(name.toLowerCase()),
  };
}

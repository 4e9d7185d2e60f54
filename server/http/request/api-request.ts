/** Header fields of a request by name, in any case; values of repeated ones are joined (Fetch standard, 2.2.2). */
export type RequestHeaders = Pick<Headers, "get" | "has">;

/**
 * A request as the API reads it. Behind it is a message of `node:http`, or a web-standard `Request` on platforms that
 * hand those over: making one of the other would cost more than most requests.
 */
export interface ApiRequest {
  readonly method: string;
  /** Its path and query are those of the request; its host may not be, so `Host` is read from the headers. */
  readonly url: URL;
  readonly headers: RequestHeaders;
  /** Aborts when the client closes the connection before it has the answer. */
  readonly signal: AbortSignal;
  /**
   * Reads the body, once.
   *
   * @returns null if it is longer than `limit` bytes; the rest is not read
   * @throws if the client closes the connection before the end
   */
  read(limit: number): Promise<Uint8Array | null>;
}

/** A web-standard request as the API reads it. */
export function webRequest(request: Request): ApiRequest {
  const { method, headers, signal } = request;
  return {
    method,
    headers,
    signal,
    url: new URL(request.url),
    async read(limit) {
      if (request.body === null) return new Uint8Array();
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of request.body as ReadableStream<Uint8Array>) {
        size += chunk.byteLength;
        if (size > limit) return null;
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
  };
}

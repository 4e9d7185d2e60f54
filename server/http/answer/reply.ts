/** A response as data. The listener writes it as it is; on other platforms `toResponse` makes a `Response` of it. */
export interface Reply {
  status: number;
  body?: string;
  /** Headers beside the common ones; a header of the same name replaces a common one. */
  headers?: Record<string, string>;
  /** Values of `Set-Cookie`, in order. */
  cookies?: string[];
}

/** A response in JSON. */
export function json(status: number, body: unknown, more: Pick<Reply, "headers" | "cookies"> = {}): Reply {
  return {
    ...more,
    status,
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json; charset=utf-8", ...more.headers },
  };
}

/**
 * An error of an address outside flows: `{code, message}`, where the code is the HTTP status.
 *
 * @param message for developers of clients; never repeats what a client sent
 */
export function plainError(status: number, message: string, headers: Record<string, string> = {}): Reply {
  return json(status, { code: status, message }, { headers });
}

/** Redirects a browser. 303 turns a POST into a GET (RFC 9110, 15.4.4). */
export function redirect(
  status: 303 | 307,
  location: string,
  more: Pick<Reply, "headers" | "cookies"> = {},
): Reply {
  return { ...more, status, headers: { ...more.headers, Location: location } };
}

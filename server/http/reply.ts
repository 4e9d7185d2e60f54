/** An answer as data; `dispatch` alone makes a `Response` of it. */
export interface Reply {
  status: number;
  body?: string;
  /** Headers beside those that every answer carries, and in place of them where the name is the same. */
  headers?: Record<string, string>;
  /** Values of `Set-Cookie`, in order. */
  cookies?: string[];
}

/** An answer in JSON, always UTF-8. */
export function json(status: number, body: unknown, more: Pick<Reply, "headers" | "cookies"> = {}): Reply {
  return {
    ...more,
    status,
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json; charset=utf-8", ...more.headers },
  };
}

/**
 * A refusal of an address that is not part of a flow: `{code, message}`, the code being the HTTP status.
 *
 * @param message for the people who build clients; nothing a client sent is repeated in it
 */
export function plainError(status: number, message: string, headers: Record<string, string> = {}): Reply {
  return json(status, { code: status, message }, { headers });
}

/** Leads a browser elsewhere. 303 turns a POST into a GET (RFC 9110, 15.4.4). */
export function redirect(
  status: 303 | 307,
  location: string,
  more: Pick<Reply, "headers" | "cookies"> = {},
): Reply {
  return { ...more, status, headers: { ...more.headers, Location: location } };
}

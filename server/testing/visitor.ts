import type { Runtime } from "../runtime.ts";
import { send } from "./observed.ts";

/** A client with a cookie jar that calls the API in this process, without a network. */
export interface Visitor {
  /** Current cookies by name. Tests may add their own. */
  readonly cookies: Map<string, string>;
  /** `Set-Cookie` lines of the last response. */
  readonly setCookies: string[];
  /** Sends any request. Throws for an address outside the API. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a `POST` with JSON, or with an unchanged string body. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends a `POST` as a form of our own page does. */
  submit(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** Calls a tRPC mutation as our own page does. */
  mutate(procedure: string, input: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** @param peer IP address of the visitor's connection */
export function visitor(runtime: Runtime, peer = "192.0.2.1"): Visitor {
  const cookies = new Map<string, string>();
  let setCookies: string[] = [];

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({
      host: new URL(runtime.config.base_url).host,
      ...Object.fromEntries(new Headers(init.headers)),
    });
    if (cookies.size > 0 && !headers.has("cookie")) {
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    }
    const sent = new Request(runtime.config.base_url + path, { ...init, headers });
    const response = await send(sent, peer, runtime);
    setCookies = response.headers.getSetCookie();
    for (const line of setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  const ownPage = { "sec-fetch-site": "same-origin" };
  const post = (path: string, body: unknown, headers: Record<string, string>) =>
    request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });

  return {
    cookies,
    get setCookies() {
      return setCookies;
    },
    request,
    post: (path, body, headers = {}) => post(path, body, headers),
    submit: (path, fields, headers = {}) =>
      request(path, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { ...ownPage, ...headers },
      }),
    mutate: (procedure, input, headers = {}) =>
      post(`/api/trpc/${procedure}`, input, { ...ownPage, ...headers }),
  };
}

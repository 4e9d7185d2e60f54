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
  /**
   * Sends a `POST` with JSON, or with an unchanged string body. A report of capabilities says false of those that it does
   * not name, because clients send all of them.
   */
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
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(reporting(path, body)) }),
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

const noCapabilities = {
  webauthn_available: false,
  webauthn_conditional_mediation_available: false,
  webauthn_platform_authenticator_available: false,
};

/** Completes a report of capabilities, over REST or tRPC; any other body stays as it is. */
function reporting(path: string, body: unknown): unknown {
  const given = body as { action?: unknown; input?: unknown; input_data?: unknown } | null;
  const complete = (input: unknown) =>
    typeof input === "object" && !Array.isArray(input) ? { ...noCapabilities, ...input } : input;
  if (path.includes("action=register_client_capabilities") && given && "input_data" in given)
    return { ...given, input_data: complete(given.input_data) };
  if (given?.action === "register_client_capabilities" && "input" in given)
    return { ...given, input: complete(given.input) };
  return body;
}

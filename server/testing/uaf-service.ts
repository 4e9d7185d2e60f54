import { sql } from "drizzle-orm";
import type { RunningServer } from "./server.ts";
import { startService } from "./service.ts";

/** A running server and an application that calls its authenticator interface over HTTP. */
export interface AuthenticatorService {
  server: RunningServer;
  /** `<server>/authenticator`, with a tenant's prefix before it. */
  base: string;
  /** The application's key. */
  key: string;
  /** Runs the CLI as the server's operator does; returns its output. */
  stile(...words: string[]): Promise<string>;
  /** Calls with the key by default. */
  call(method: string, path: string, init?: CallInit): Promise<ApiResponse>;
  /** The service for another tenant. */
  of(tenant: { prefix: string; key: string }): AuthenticatorService;
  /** Expires a request. */
  expire(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface CallInit {
  body?: unknown;
  /** Replaces the key; null omits the header. */
  authorization?: string | null;
  headers?: Record<string, string>;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response.
  body: any;
}

/** @param settings environment variables of the server */
export async function startAuthenticatorService(
  settings: Record<string, string> = {},
): Promise<AuthenticatorService> {
  const { server, database, stile, close } = await startService(settings);
  const key = await stile("keys", "create", "--interface", "authenticator");
  const at = ({ prefix, key }: { prefix: string; key: string }): AuthenticatorService => {
    const base = `${server.url}${prefix}/authenticator`;
    return {
      server,
      base,
      key,
      stile,
      call: (method, path, init = {}) =>
        callAt(path.startsWith("http") ? path : base + path, method, {
          authorization: `secret ${key}`,
          ...init,
        }),
      of: at,
      async expire(id) {
        await database.database.write.execute(
          sql`update authenticator_requests set valid_until = clock_timestamp() where id = ${id}`,
        );
      },
      close,
    };
  };
  return at({ prefix: "", key });
}

/** Calls an absolute URL. A body other than a string is sent as JSON. */
export async function callAt(
  address: string,
  method: string,
  { body, authorization = null, headers = {} }: CallInit = {},
): Promise<ApiResponse> {
  const answer = await fetch(address, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(authorization === null ? {} : { authorization }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

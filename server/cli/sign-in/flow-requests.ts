import type { FlowType } from "../../flow/names.ts";
import type { FlowState } from "../../flow/wire.ts";
import { CommandError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";

/** The session that a sign-in issued. */
export interface TerminalSession {
  token: string;
  /** Seconds until it expires; null if the server does not say. */
  lifetime: number | null;
}

/** A server's flows over REST, with the cookies of this sign-in. */
export interface FlowRequests {
  /** @param capabilities of the client: the flow begins after `preflight`; a server before 0.4 begins with it */
  start(type: FlowType, capabilities?: Record<string, boolean>): Promise<FlowState>;
  /** Performs an action of a state. */
  act(state: FlowState, action: string, input: Record<string, unknown>): Promise<FlowState>;
  /** The session of the last answer; null without one. */
  session(): TerminalSession | null;
  /** Ends the session. */
  signOut(): Promise<void>;
}

/** The request got no answer. */
export class NoAnswerError extends Error {}

/** Longer than the server's own limit for a step. */
const REQUEST_TIMEOUT_MS = 20_000;

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Checks the address of a server. Passwords travel there, so another machine is asked over https only.
 *
 * @returns the base address without a slash at its end
 * @throws CommandError with one line
 */
export function baseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new CommandError(`${text} is not an address: https://…`);
  if (url.username || url.password || url.search || url.hash)
    throw new CommandError("the address has no user, query or fragment: https://login.example.com");
  if (url.protocol === "http:" && !loopback.has(url.hostname))
    throw new CommandError(`${url.origin} is not this machine: passwords are sent over https only`);
  return url.href.replace(/\/+$/, "");
}

/**
 * Makes the requests of one sign-in.
 *
 * @param base as `baseAddress` returns it
 * @param language sent as `X-Language`
 */
export function flowRequests(base: string, language: string): FlowRequests {
  const cookies = new Map<string, string>();
  let session: TerminalSession | null = null;

  async function post(path: string, body: object): Promise<FlowState> {
    const response = await request(path, body);
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    const state = await readState(response);
    const token = response.headers.get("x-auth-token") ?? sessionToken(response.headers.getSetCookie());
    const lifetime = Number(response.headers.get("x-session-lifetime")) || null;
    session = state.name === "success" && token !== null ? { token, lifetime } : null;
    return state;
  }

  async function request(path: string, body: object, more: Record<string, string> = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    try {
      return await fetch(base + path, {
        method: "POST",
        redirect: "manual",
        headers: {
          "content-type": "application/json",
          "x-language": language,
          ...(cookie ? { cookie } : {}),
          ...more,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      throw new NoAnswerError(`${base} does not answer: ${cause?.code || cause?.message || message}`);
    }
  }

  return {
    start: (type, capabilities) => post(`/${type}`, capabilities ? { capabilities } : {}),
    act(state, action, input) {
      const href = state.actions[action]?.href ?? "";
      // A path of this server, whatever the answer says.
      if (!/^\/[a-z_]+\?/.test(href))
        throw new CommandError(`${base} names an unknown address for ${escapeControls(action)}`);
      return post(href, { input_data: input, csrf_token: state.csrf_token });
    },
    session: () => session,
    async signOut() {
      if (session) await request("/logout", {}, { authorization: `Bearer ${session.token}` });
    },
  };
}

/** @throws CommandError if the answer is no flow state */
async function readState(response: Response): Promise<FlowState> {
  const body: unknown = await response.json().catch(() => null);
  if (isState(body)) return body;
  throw new CommandError(
    `${new URL(response.url).origin} answers ${response.status} without a flow: is it the address of a Stile server?`,
  );
}

function isState(body: unknown): body is FlowState {
  const state = body as Partial<FlowState> | null;
  return (
    typeof state === "object" &&
    typeof state?.name === "string" &&
    typeof state.actions === "object" &&
    state.actions !== null &&
    typeof state.payload === "object" &&
    state.payload !== null
  );
}

/** The token among the cookies: the one that is a JWT of a user. */
function sessionToken(lines: string[]): string | null {
  const values = lines.map((line) => /^[^=]+=([^;]*)/.exec(line)?.[1] ?? "");
  return values.find((value) => typeof claimsOf(value)?.sub === "string") ?? null;
}

/** The claims of a JWT, unverified; null for any other text. */
export function claimsOf(token: string): Record<string, unknown> | null {
  const [, payload, signature] = token.split(".");
  if (!payload || !signature) return null;
  try {
    return JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (/; Max-Age=0(;|$)/i.test(line)) cookies.delete(name);
  else cookies.set(name, value);
}

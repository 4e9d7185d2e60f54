import type { FlowState } from "#server/flow/wire";
import { isText } from "./payload-readers.ts";

export type { ActionDescriptor, FlowError, FlowLink, FlowState, InputDescriptor } from "#server/flow/wire";

/** The flows that can be embedded. */
export type EmbeddedFlow = "login" | "registration" | "profile";

/** How the session reaches the application. */
export type FlowResult =
  /** The browser has the session cookie. */
  | { kind: "cookie" }
  /**
   * A one-time code, valid for 60 seconds, which the application's server redeems at `POST /token`. `codeVerifier`
   * (RFC 7636, 4.1) is present only if the component made the challenge itself.
   */
  | { kind: "code"; code: string; codeVerifier?: string }
  /**
   * The session token, only where `session.enable_auth_token_header` is set. `lifetime` in seconds. `retention` is
   * `session` or `persistent`.
   */
  | { kind: "token"; token: string; lifetime: number; retention: string };

/** The options and events of every way to embed a flow: React component, element and frame. */
export interface EmbeddingOptions {
  /** Base address of the tenant, for instance `https://login.example.com` or `https://login.example.com/t/<id>`. */
  url: string;
  /** Default: `login`. */
  flow?: EmbeddedFlow;
  /** BCP 47 tag of the words and mails. Default: the language of the page around it, else the browser's. */
  language?: string;
  /** `light` or `dark`; default: the preference of the browser. */
  theme?: "light" | "dark";
  /**
   * S256 challenge (RFC 7636, 4.2) that your server made, or `true` to let the component make one. The result is then a
   * code instead of the cookie.
   */
  codeChallenge?: string | true;
  /** Called once when the user has signed in, and has saved the recovery codes if there are any. */
  onSuccess?: (result: FlowResult) => void;
  /** Called with the name of each new state, for instance `login_password`. */
  onStateChange?: (change: { name: string }) => void;
  /** Called with each error that is shown: of a step, of the flow, or of the connection. */
  onError?: (error: { code: string; message: string }) => void;
}

/** The options of `signIn()`, behind a button of the application. */
export interface SignInOptions extends EmbeddingOptions {
  /**
   * What opens where the browser has nothing at hand. `frame`: the frame of the service. `page`: the service's own page,
   * from which the user returns to `redirectTo`. Default: the component, in the same flow; `/embed.js` has none, and opens
   * the frame.
   */
  otherwise?: "component" | "frame" | "page";
  /**
   * Only for `page`: an address of `hosted.allowed_redirect_urls`. The user always arrives there, with `code` in the query
   * where `codeChallenge` is given, also without the page: `onSuccess` is not called.
   */
  redirectTo?: string;
  /** Only for `page`: returned unchanged in the query of `redirectTo`, at most 512 characters. */
  state?: string;
}

/** The events of the element → the options with the same detail. */
export const eventOptions = {
  "stile-success": "onSuccess",
  "stile-statechange": "onStateChange",
  "stile-error": "onError",
} as const satisfies Record<string, keyof EmbeddingOptions>;

/**
 * The result of a flow in `success`.
 *
 * @param headers headers of the answer that a page may read; none over tRPC
 * @param codeVerifier the verifier of the challenge, if this page made it
 */
export function resultOf(
  { payload }: FlowState,
  headers: Headers = new Headers(),
  codeVerifier: string | null = null,
): FlowResult {
  const { authorization_code: code } = payload;
  if (isText(code)) return { kind: "code", code, ...(codeVerifier === null ? {} : { codeVerifier }) };
  const token = headers.get("X-Auth-Token");
  if (token === null) return { kind: "cookie" };
  const lifetime = Number(headers.get("X-Session-Lifetime") ?? 0);
  return { kind: "token", token, lifetime, retention: headers.get("X-Session-Retention") ?? "session" };
}

import type { FlowState } from "#server/flow/wire";
import { browserCapabilities } from "./capabilities.ts";
import { lacksOptions, renewalDelay } from "./ceremonies.ts";
import { type FlowResult, resultOf } from "./embedding.ts";
import type { FlowAnswer, FlowServer, FlowType } from "./flow-server.ts";
import { isText, recordOf } from "./payload-readers.ts";
import { REQUEST_TIMEOUT_MS } from "./request-timeout.ts";

export interface RestServerOptions {
  /** Base address of the tenant, for instance `https://login.example.com/t/<id>`. */
  url: string;
  /** BCP 47 tag for mails. */
  language: string;
  /**
   * S256 challenge (RFC 7636, 4.2): the session is handed over by a code. `true` makes a challenge, whose verifier is in
   * the result.
   */
  codeChallenge?: string | true | undefined;
  /** Whether the user returns from an identity provider: then the flow that went there continues. */
  returning?: boolean;
  /** The flow that the page asked for. Its steps are kept, so that it goes on after a reload. Default: they are not. */
  asked?: FlowType | undefined;
  /** Default: `include`. */
  credentials?: RequestCredentials;
  /** Keeps the flow for a reload, and while the user is at an identity provider; default: `sessionStorage`. */
  storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
}

/** A client of the flow API over REST, for pages of applications. */
export interface RestServer extends FlowServer {
  /** The result of the flow that has reached `success`; null before. */
  result(): FlowResult | null;
  /** The version of the tenant's own texts in a language; null if it has none, or before the first answer. */
  ownWords(language: string): string | null;
}

interface Call {
  action: string;
  input: Record<string, unknown>;
}

/** A flow as the newest answer shows it. */
interface HeldFlow {
  type: FlowType;
  id: string;
  state: FlowState;
  receivedAt: number;
  /** Whether nothing was done but to report capabilities, so that another flow can take its place. */
  isFresh: boolean;
  /** The step that led to this state. */
  entered: Call | null;
}

/** What is kept of a flow in the storage of the tab. No session exists then, and no input is kept. */
interface KeptFlow {
  type: FlowType;
  id: string;
  state: FlowState;
  receivedAt: number;
  verifier: string | null;
  /** The verifier of the challenge that the flow was started with. */
  codeVerifier: string | null;
  /** The options of the page. */
  asked: FlowType | null;
  codeChallenge: string | true | null;
  ownWords: string[];
}

/** Older steps are not shown again. A flow lives for an hour unless configured otherwise. */
const MAX_KEPT_MS = 3_600_000;

/**
 * A client of the flow API over REST: `POST /login`, `/registration`, `/profile`. `version` counts its answers.
 *
 * A flow starts with a report of what the browser can do; a server before 0.4 ignores it, and is told in `preflight`.
 * REST has no request for the current state, so `current` answers from memory. After a lost answer it repeats the
 * step: a token is accepted once, so the step is performed once. If the lost step was performed, the answer is 403, and
 * the caller starts again. Options of a ceremony that a rejected attempt has used up, or that have expired, are
 * obtained by going the last step again.
 */
export function restServer(options: RestServerOptions): RestServer {
  const { language, codeChallenge, credentials = "include", asked = null } = options;
  const base = baseOf(options.url);
  /** Whether this page has not looked for a flow to resume. */
  let mayResume = true;
  let isKept = false;
  let version = 0;
  let codeVerifier: string | null = null;
  let held: HeldFlow | null = null;
  /** The step whose answer was lost. */
  let lost: Call | null = null;
  /** The answer that the flow cannot be continued: it has expired, or its token is not the newest. */
  let ended: FlowState | null = null;
  let result: FlowResult | null = null;
  /** Version and languages of the tenant's own texts. */
  let ownWords: string[] = [];
  /** Binds the return from an identity provider to this page (RFC 7636). */
  let verifier: string | null = null;

  async function post(path: string, body: unknown): Promise<{ state: FlowState; headers: Headers }> {
    const response = await fetch(base + path, {
      method: "POST",
      credentials,
      headers: { "X-Language": language, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const state: unknown = await response.json();
    if (!isFlowState(state)) throw new Error(`${path} answers without a state.`);
    ownWords = response.headers.get("X-Words")?.split(" ") ?? [];
    return { state, headers: response.headers };
  }

  function answer(state: FlowState): FlowAnswer {
    version += 1;
    return { version, state };
  }

  async function start(type: FlowType): Promise<FlowAnswer> {
    if (codeChallenge === true) codeVerifier = newCodeVerifier();
    const challenge = codeVerifier === null ? codeChallenge : await codeChallengeOf(codeVerifier);
    const query = challenge === undefined ? "" : `?code_challenge=${encodeURIComponent(String(challenge))}`;
    const { state, headers } = await post(`/${type}${query}`, { capabilities: await browserCapabilities() });
    forget();
    lost = null;
    held = null;
    ended = null;
    hold(type, state, headers, null);
    return answer(state);
  }

  /** Keeps an answer that shows a state of the flow; an error leaves the flow and its token as they were. */
  function hold(type: FlowType, state: FlowState, headers: Headers, call: Call | null): void {
    if (state.name === "success") result = resultOf(state, headers, codeVerifier);
    const id = flowIdOf(state) ?? (state.name === "error" ? null : held?.id);
    if (!id) return;
    const isSame = held?.state.name === state.name;
    held = {
      type,
      id,
      state,
      receivedAt: Date.now(),
      isFresh: call === null || call.action === "register_client_capabilities",
      entered: isSame ? (held?.entered ?? null) : call,
    };
    const isStep = asked !== null && !held.isFresh && state.name !== "success";
    // A secret that the user has to copy is not stored.
    if (isText(state.payload.redirect_url) || (isStep && !isText(state.payload.otp_secret))) keep();
    else forget();
  }

  /** Performs an action of the held state. Throws if there is none, or if the answer is lost. */
  async function send(call: Call): Promise<FlowAnswer> {
    if (!held) throw new Error("no flow");
    const { type, id, state } = held;
    lost = call;
    const received = await post(`/${type}?action=${encodeURIComponent(`${call.action}@${id}`)}`, {
      csrf_token: state.csrf_token,
      input_data: call.input,
    });
    // The step can be repeated with the same token.
    if (received.state.status !== 503) lost = null;
    if (received.state.name === "error" && [403, 410].includes(received.state.status)) {
      ended = received.state;
      forget();
    }
    hold(type, received.state, received.headers, call);
    return answer(received.state);
  }

  async function current(type: FlowType): Promise<FlowAnswer> {
    if (ended) return { version, state: ended };
    if (lost) return send(lost);
    if (!held) return resume(type) ?? start(type);
    const { state, isFresh, entered, receivedAt } = held;
    if (isFresh && isExpiring(state, receivedAt)) return start(type);
    if (entered && usedUp(state)) {
      const before = await send({ action: "back", input: {} });
      return Object.hasOwn(before.state.actions, entered.action) ? send(entered) : before;
    }
    return { version, state };
  }

  function withVerifier({ action, input }: Call): Call {
    const wants = held?.state.actions[action]?.inputs.code_verifier !== undefined;
    if (!wants) return { action, input };
    if (action !== "exchange_token") verifier = newCodeVerifier();
    return { action, input: verifier === null ? input : { ...input, code_verifier: verifier } };
  }

  function keep(): void {
    if (!held) return;
    const { type, id, state, receivedAt } = held;
    const kept: KeptFlow = {
      type,
      id,
      state,
      receivedAt,
      verifier,
      codeVerifier,
      ownWords,
      asked,
      codeChallenge: codeChallenge ?? null,
    };
    // Without storage the user returns to a new flow.
    attempt(() => storageOf(options)?.setItem(storageKey(base), JSON.stringify(kept)));
    isKept = true;
  }

  function forget(): void {
    if (isKept) attempt(() => storageOf(options)?.removeItem(storageKey(base)));
    isKept = false;
  }

  /** Continues the flow that this tab has kept; null if it has none. */
  function resume(type: FlowType): FlowAnswer | null {
    const kept = mayResume ? keptFlow(options) : null;
    mayResume = false;
    if (kept?.type !== type) return null;
    isKept = true;
    // A return from an identity provider is used once.
    if (options.returning) forget();
    ({ verifier, codeVerifier, ownWords } = kept);
    const { id, state, receivedAt } = kept;
    held = { type, id, state, receivedAt, isFresh: false, entered: null };
    return answer(state);
  }

  return {
    start,
    act: async (_, action, __, input) => send(withVerifier({ action, input })),
    current,
    // A service that has answered takes the calls of this page.
    refuses: async () =>
      version === 0 &&
      (await import("../embed/refused-origin.ts").then(
        ({ refusesOrigin }) => refusesOrigin(base),
        () => false,
      )),
    result: () => result,
    ownWords: (language) => (ownWords.includes(language, 1) ? (ownWords[0] ?? null) : null),
  };
}

/** The options that decide whether a kept flow is resumed. */
type ResumeOptions = Pick<RestServerOptions, "url" | "storage" | "returning" | "asked" | "codeChallenge">;

/** The type of the flow that a page with these options resumes; null if there is none. */
export function keptType(options: ResumeOptions): FlowType | null {
  return keptFlow(options)?.type ?? null;
}

function keptFlow({ url, storage, returning, asked, codeChallenge }: ResumeOptions): KeptFlow | null {
  const kept = attempt(
    () => JSON.parse(storageOf({ storage })?.getItem(storageKey(baseOf(url))) ?? "null") as KeptFlow | null,
  );
  if (!kept || (returning && isText(kept.state.payload.redirect_url))) return kept;
  // A code is redeemed with the verifier of its own challenge.
  const isSame = kept.asked === asked && kept.codeChallenge === (codeChallenge ?? null);
  return isSame && Date.now() - kept.receivedAt < MAX_KEPT_MS ? kept : null;
}

/** The base address without a slash at its end. */
export function baseOf(url: string): string {
  return url.replace(/\/+$/, "");
}

const storageKey = (base: string) => `stile-flow:${base}`;

/** A code verifier of 256 bits (RFC 7636, 4.1). */
function newCodeVerifier(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The S256 challenge of a verifier (RFC 7636, 4.2). */
export async function codeChallengeOf(codeVerifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(codeVerifier));
  return base64url(new Uint8Array(digest));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function isFlowState(value: unknown): value is FlowState {
  const { name, status, actions } = recordOf(value);
  return isText(name) && typeof status === "number" && typeof actions === "object" && actions !== null;
}

/** The flow id in the addresses of the actions; null for a state without actions. */
function flowIdOf({ actions }: FlowState): string | null {
  const [action] = Object.values(actions);
  return /(?:%40|@)([0-9a-f-]{36})$/i.exec(action?.href ?? "")?.[1] ?? null;
}

/** Whether the challenge of autofill is about to expire. */
function isExpiring({ payload }: FlowState, receivedAt: number): boolean {
  const delay = renewalDelay(payload.request_options);
  return delay !== null && Date.now() - receivedAt >= delay;
}

/** Whether a rejected ceremony has left the state without its options. */
function usedUp(state: FlowState): boolean {
  return state.error !== undefined && lacksOptions(state) && Object.hasOwn(state.actions, "back");
}

function storageOf({ storage }: Pick<RestServerOptions, "storage">): RestServerOptions["storage"] {
  return storage ?? (typeof sessionStorage === "undefined" ? undefined : sessionStorage);
}

/** Null if it throws: a browser may deny storage. */
function attempt<Value>(perform: () => Value): Value | null {
  try {
    return perform();
  } catch {
    return null;
  }
}

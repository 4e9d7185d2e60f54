/**
 * A client of the flow interface, written from its specification, over plain fetch. It shares no code with the server,
 * so that tests detect errors that shared code would hide.
 */
export interface FlowClient {
  /** The last received flow state, including errors. Throws before the first. */
  readonly state: State;
  /** The last response. */
  readonly last: Answer;
  /** Current cookies by name. Tests may add their own. */
  readonly cookies: Map<string, string>;
  /** Starts a flow at `POST /<type>`. @param beginning what it begins with: capabilities, and the first action */
  start(type: FlowType, beginning?: Beginning): Promise<Answer>;
  /** Goes on with a state that was received elsewhere. */
  adopt(state: State): void;
  /**
   * Performs an action of the last state that offered any: posts to its `href` with the newest `csrf_token`.
   *
   * @param input sent as `input_data`, with the announced values of hidden inputs that it does not name
   * @throws Error if the action is not offered; `attempt` sends it nevertheless, and its input unchanged
   */
  act(action: string, input?: Record<string, unknown>): Promise<Answer>;
  /** Sends an action, offered or not; `instead` replaces token, address, body or headers. */
  attempt(action: string, input?: Record<string, unknown>, instead?: Partial<Attempt>): Promise<Answer>;
  /** Any other request to this server, with the cookies. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

export interface Beginning {
  capabilities?: Record<string, boolean>;
  action?: string;
  input?: Record<string, unknown>;
}

export type FlowType = "login" | "registration" | "profile" | "token_exchange" | "consent";

export interface Answer {
  /** HTTP status. */
  status: number;
  headers: Headers;
  state: State;
}

export interface State {
  name: string;
  status: number;
  payload: Record<string, unknown>;
  csrf_token: string;
  actions: Record<string, Action>;
  error?: { code: string; message: string };
  links: unknown[] | null;
}

export interface Action {
  action: string;
  href: string;
  description: string;
  inputs: Record<string, Input>;
}

export interface Input {
  name: string;
  type: string;
  required?: boolean;
  hidden?: boolean;
  min_length?: number;
  max_length?: number;
  value?: unknown;
  allowed_values?: { name: string; value: unknown }[];
  error?: { code: string; message: string };
}

export interface Attempt {
  csrfToken: unknown;
  href: string;
  body: string;
  headers: Record<string, string>;
}

export interface FlowClientOptions {
  /** Sent as `X-Language`. */
  language?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

/**
 * Makes a client with its own cookie jar.
 *
 * @param baseUrl base address, to which `href`s are appended
 */
export function flowClient(baseUrl: string, options: FlowClientOptions = {}): FlowClient {
  const cookies = new Map<string, string>();
  let last: Answer | undefined;
  /** The last state with a token: the state `error` leaves the flow unchanged. */
  let live: State | undefined;

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (options.language !== undefined) headers.set("x-language", options.language);
    if (cookies.size > 0)
      headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    const response = await fetch(baseUrl + path, { redirect: "manual", ...init, headers });
    for (const line of response.headers.getSetCookie()) keepCookie(cookies, line);
    return response;
  }

  async function post(
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    const response = await request(path, body === undefined ? init : { ...init, body });
    const state = (await response.json()) as State;
    last = { status: response.status, headers: response.headers, state };
    if (state.csrf_token) live = state;
    return last;
  }

  function attempt(action: string, input: Record<string, unknown> = {}, instead: Partial<Attempt> = {}) {
    if (!live) throw new Error("no flow was started");
    const token = "csrfToken" in instead ? instead.csrfToken : live.csrf_token;
    const body = instead.body ?? JSON.stringify({ input_data: input, csrf_token: token });
    return post(
      instead.href ?? live.actions[action]?.href ?? hrefLike(live, action),
      body,
      instead.headers ?? {},
    );
  }

  return {
    cookies,
    request,
    attempt,
    get last() {
      if (!last) throw new Error("nothing was sent yet");
      return last;
    },
    get state() {
      return this.last.state;
    },
    start: (type, beginning) => post(`/${type}`, beginning && JSON.stringify(beginning), {}),
    adopt(state) {
      last = { status: state.status, headers: new Headers(), state };
      live = state;
    },
    async act(action, input) {
      if (!live?.actions[action]) {
        throw new Error(
          `${live?.name} offers ${Object.keys(live?.actions ?? {}).join(", ") || "nothing"}, not ${action}`,
        );
      }
      const hidden = Object.values(live.actions[action].inputs).filter(
        (one) => one.hidden && one.value !== undefined,
      );
      return attempt(action, {
        ...Object.fromEntries(hidden.map(({ name, value }) => [name, value])),
        ...input,
      });
    },
  };
}

/** The address of an action that is not offered, derived from an offered one. */
function hrefLike(state: State, action: string): string {
  const some = Object.values(state.actions)[0];
  if (!some) throw new Error(`${state.name} offers nothing, so the flow's id is not known`);
  return some.href.replace(`action=${some.action}%40`, `action=${encodeURIComponent(action)}%40`);
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";");
  const at = pair.indexOf("=");
  const name = pair.slice(0, at).trim();
  const gone = attributes.some((attribute) => {
    const [key = "", value = ""] = attribute.trim().toLowerCase().split("=");
    return (
      (key === "max-age" && Number(value) <= 0) || (key === "expires" && Date.parse(value) <= Date.now())
    );
  });
  if (gone) cookies.delete(name);
  else cookies.set(name, pair.slice(at + 1).trim());
}

import type { Answer, Connection } from "./connection.ts";

/** A state of a flow, as far as the load generator reads it. */
export interface State {
  name: string;
  payload: Record<string, unknown>;
  csrf_token: string;
  actions: Record<string, { action: string; href: string }>;
}

/** A browser that signs in over one connection: it keeps the cookies, and the newest state of its flow. */
export interface Visit {
  state: State;
  /** Begins a flow at `POST /<type>`, if wanted with capabilities and a first action as the body. */
  begin(type: string, beginning?: object): Promise<State>;
  /** Performs an action of the current state. */
  act(action: string, input?: object): Promise<State>;
  /** Any other request, with the cookies. A body is sent as a form if it is one, else as JSON. */
  call(method: string, path: string, body?: unknown, headers?: string): Promise<Answer>;
  /** Takes over the cookies of a browser that has signed in before. */
  remember(given: Iterable<readonly [string, string]>): void;
  /** Forgets the cookies, as another browser. */
  forget(): void;
  /** Lets the flow end, declining what it offers; throws if it does not end in a session. */
  finish(): Promise<void>;
}

/** The server is overloaded, and said when to come back. What it took before, such as a challenge, may be spent. */
export class Overloaded extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super(`told to wait ${seconds} s`);
    this.seconds = seconds;
  }
}

/** @throws Overloaded; Error for another status than 200 or a redirect */
export function visit(connection: Connection): Visit {
  const cookies = new Map<string, string>();

  async function call(method: string, path: string, body?: unknown, headers = ""): Promise<Answer> {
    const cookie =
      cookies.size > 0 ? `cookie: ${[...cookies].map((one) => one.join("=")).join("; ")}\r\n` : "";
    const text = body === undefined || body instanceof URLSearchParams ? body : JSON.stringify(body);
    const answer = await connection.send(method, path, text, cookie + headers);
    const [, wait] = /\r\nretry-after: *(\d+)/i.exec(answer.head) ?? [];
    if (wait && (answer.status === 503 || answer.status === 429)) throw new Overloaded(Number(wait));
    if (![200, 302, 303].includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 3000)}`);
    for (const [, name = "", value = ""] of answer.head.matchAll(/\r\nset-cookie: *([^=\r]+)=([^;\r]*)/gi))
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    return answer;
  }

  async function step(path: string, body?: object): Promise<State> {
    const { body: text } = await call("POST", path, body);
    own.state = JSON.parse(text) as State;
    return own.state;
  }

  const own: Visit = {
    state: { name: "", payload: {}, csrf_token: "", actions: {} },
    call,
    remember(given) {
      for (const [name, value] of given) cookies.set(name, value);
    },
    forget: () => cookies.clear(),
    begin: (type, beginning) => step(`/${type}`, beginning),
    act(action, input = {}) {
      const { actions, csrf_token, name } = own.state;
      const { href } = actions[action] ?? {};
      if (!href) throw new Error(`${name} offers ${Object.keys(actions).join(", ")}, not ${action}`);
      return step(href, { input_data: input, csrf_token });
    },
    async finish() {
      while (own.state.actions.skip) await own.act("skip");
      if (own.state.name !== "success") throw new Error(`a flow ended in ${JSON.stringify(own.state)}`);
    },
  };
  return own;
}

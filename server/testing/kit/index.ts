import { type FlowClient, type FlowClientOptions, flowClient, type State } from "../flow-client.ts";
import type { BrowserCookie, HostCalls } from "./host-calls.ts";
import { startHost } from "./host-process.ts";
import { type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";
import { type Mailbox, mailboxOf } from "./mailbox.ts";
import { newUser, type ReadyUser, type UserWish } from "./ready-user.ts";

export { type AuthenticatorApp, authenticatorApp } from "../authenticator-app.ts";
export type { FlowClient, FlowClientOptions, State } from "../flow-client.ts";
export {
  createUafAuthenticator as uafAuthenticator,
  type UafAuthenticator,
} from "../uaf-authenticator/authenticator.ts";
export type { UafCall, UafSettings } from "../uaf-authenticator/call.ts";
export { type Authenticator, softwareAuthenticator } from "../webauthn-authenticator.ts";
export type { BrowserCookie, Mail } from "./host-calls.ts";
export type { IdentityProvider } from "./identity-provider.ts";
export type { Mailbox } from "./mailbox.ts";
export type { ReadyUser, UserWish } from "./ready-user.ts";
export { type VirtualAuthenticator, virtualAuthenticator } from "./virtual-authenticator.ts";

/** How a server for tests is started. */
export interface StileOptions {
  /**
   * Settings as in `stile.config.json`, for instance `{ password: { enabled: false } }`. Rate limits are off unless they
   * are switched on here.
   */
  settings?: Record<string, unknown>;
  /**
   * Folder in which the server writes what the tests have taken of the state graph, when it ends; `stile coverage`
   * reads it. Default: the environment variable `STILE_COVERAGE`, else none.
   */
  coverage?: string;
  /** Starts an identity provider beside it, which the server knows as `custom_fake`. */
  provider?: boolean;
}

/** The clock of a server for tests, which decides every expiry. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves it forward. */
  advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): Promise<Date>;
  /** Holds it, now or at a time; `advance` still moves it. */
  hold(at?: Date): Promise<Date>;
  /** Lets it run on from where it is. */
  release(): Promise<Date>;
}

/** Facts that a flow is started with. What is absent is not the case. */
export interface FlowFacts {
  /** The type of the flow. Default: `login` if it reaches the state, else the first type that does. */
  flow?: "login" | "registration" | "profile";
  /** The account, or what a new one should have. */
  user?: ReadyUser | UserWish;
  /** The address that was entered. Default: the account's. */
  email?: string;
  username?: string;
  /** Methods that have been proved in this flow. Default: `password` where a state needs a first factor. */
  factors?: string[];
  /** States that count as completed or skipped, beside `preflight`. */
  completed?: string[];
  /** Whether the browser has WebAuthn. Default: true. */
  webauthn?: boolean;
}

/** A flow that was started at a state. */
export interface StartedFlow extends FlowClient {
  readonly flow: "login" | "registration" | "profile" | "token_exchange";
  readonly user: ReadyUser | null;
  /** Cookies that put the hosted page of a browser into this flow: `context.addCookies(flow.pageCookies)`. */
  readonly pageCookies: BrowserCookie[];
}

/** A running server for tests, with a database of its own. */
export interface Stile extends AsyncDisposable {
  /** Base address, for instance `http://localhost:40123`. */
  readonly url: string;
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  /** The identity provider; throws if the server was started without one. */
  readonly provider: IdentityProvider;
  /** Makes a user, by the code that imports users. */
  user(wish?: UserWish): Promise<ReadyUser>;
  /** A client of the flow interface with cookies of its own. */
  client(options?: FlowClientOptions): FlowClient;
  /**
   * Starts a flow at a state. The flow, its state and its token are real: the facts become the data of a flow, and the
   * engine enters the state.
   *
   * @throws Error with one line that says why the facts do not lead to the state
   */
  startAt(state: string, facts?: FlowFacts): Promise<StartedFlow>;
  /**
   * Signs a user in without a flow.
   *
   * @returns the token of a new session, and the cookie that holds it
   */
  session(user: ReadyUser, factors?: string[]): Promise<{ token: string; cookie: BrowserCookie }>;
  /** The code that the user's authenticator app shows now, or `steps` times 30 seconds later. */
  code(user: ReadyUser, steps?: number): Promise<string>;
  /** What this server's flows have taken so far: edges as `flow state action target`, errors as `state action code`. */
  coverage(): Promise<{ edges: string[]; errors: string[] }>;
  /** Ends the server, its database and its provider. */
  close(): Promise<void>;
}

/** States that no first factor has been proved in yet. */
const beforeFirstFactor = new Set([
  "preflight",
  "login_init",
  "login_passkey",
  "login_method_chooser",
  "login_password",
  "passcode_confirmation",
  "registration_init",
  "profile_init",
]);

/** Limits that one machine, from which all tests come, would reach at once. RSA keys take long to generate. */
const usual = { rate_limiter: { enabled: false }, session: { algorithm: "ES256" } };

/**
 * Starts a server for tests on a free port, with an embedded PostgreSQL of its own. It ends with `close`, and at the
 * latest with this process. Servers may run beside each other.
 *
 * @throws Error if `NODE_ENV` is `production`, or with one line that says why the server did not start
 */
export async function startStile(options: StileOptions = {}): Promise<Stile> {
  if (process.env.NODE_ENV === "production")
    throw new Error("@stile-auth/testing does not start with NODE_ENV=production");
  const folder = options.coverage ?? process.env.STILE_COVERAGE;
  const started = options.provider ? await startIdentityProvider() : null;
  const settings = merge(merge(usual, started?.settings ?? {}), options.settings ?? {});
  const host = await startHost({ settings, coverageFolder: folder || null }).catch(async (error: unknown) => {
    await started?.close();
    throw error;
  });
  const { url, calls } = host;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= host.stop().then(() => started?.close());
    return closing;
  };
  const user = async (wish: UserWish = {}): Promise<ReadyUser> => {
    const made = newUser(wish, url);
    await calls.addUser(made.record);
    return made.user;
  };
  return {
    url,
    mailbox: mailboxOf(calls),
    clock: clockOf(calls),
    get provider() {
      if (!started) throw new Error("there is no identity provider: startStile({ provider: true })");
      return started.provider;
    },
    user,
    client: (given) => flowClient(url, given),
    startAt: (state, facts = {}) => startAt(url, calls, state, facts, user),
    session: ({ id }, factors = ["password"]) => calls.session({ id, methods: factors }),
    async code({ app, email, username }, steps = 0) {
      if (!app) throw new Error(`${email || username} has no authenticator app: stile.user({ totp: true })`);
      return app.code(await calls.now(), steps);
    },
    coverage: () => calls.coverage(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function startAt(
  url: string,
  calls: HostCalls,
  state: string,
  facts: FlowFacts,
  makeUser: (wish: UserWish) => Promise<ReadyUser>,
): Promise<StartedFlow> {
  const wished = facts.user;
  const user = wished === undefined ? null : isReady(wished) ? wished : await makeUser(wished);
  const isNew = facts.flow === "registration";
  const usualFactors = user === null || isNew || beforeFirstFactor.has(state) ? [] : ["password"];
  const started = await calls.startAt({
    state,
    flow: facts.flow ?? null,
    userId: user?.id ?? null,
    email: facts.email ?? (user?.email || null),
    username: facts.username ?? user?.username ?? null,
    factors: facts.factors ?? usualFactors,
    completed: facts.completed ?? [],
    webauthn: facts.webauthn ?? true,
  });
  const client = flowClient(url);
  for (const { name, value } of started.cookies) client.cookies.set(name, value);
  client.adopt(started.state as unknown as State);
  return Object.defineProperties(client as StartedFlow, {
    flow: { value: started.flow, enumerable: true },
    user: { value: user, enumerable: true },
    pageCookies: { value: started.cookies, enumerable: true },
  });
}

function isReady(user: ReadyUser | UserWish): user is ReadyUser {
  return "id" in user;
}

function clockOf(calls: HostCalls): Clock {
  const asDate = async (milliseconds: Promise<number>) => new Date(await milliseconds);
  return {
    now: () => asDate(calls.now()),
    advance({ days = 0, hours = 0, minutes = 0, seconds = 0 }) {
      return asDate(calls.moveClock((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000));
    },
    hold: (at) => asDate(calls.now().then((now) => calls.holdClock(at?.getTime() ?? now))),
    release: () => asDate(calls.holdClock(null)),
  };
}

function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    merged[name] = isTree(below) && isTree(value) ? merge(below, value) : value;
  }
  return merged;
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../server/testing/eventually.ts";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { signUp } from "../server/testing/sign-up.ts";

/** Visitors who sign in, some each second, whatever becomes of the server. */
export interface Load {
  /** Logins so far that ended in a session. */
  succeeded(): number;
  /** Ends it, once each login under way has ended. */
  end(): Promise<LoadResult>;
}

export interface LoadResult {
  /** Logins that ended in a session. */
  succeeded: number;
  /** Logins that met an answer of 503, or none: a visitor would press again. */
  interrupted: number;
  /** What these met, each once. */
  interruptions: string[];
  /** Answers that no visitor should get: other statuses of 500 and more. */
  failed: number;
  /** The longest time in which no login succeeded, in milliseconds. */
  longestGapMs: number;
  /** Sessions that were issued and are not valid any more. */
  lost: number;
}

const ACCOUNTS = 10;

/** The password of every visitor. */
export const password = "correct horse battery staple";

/** Settings of the servers at which visitors sign in, by a password alone. */
export const settingsOfVisitors = {
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_PASSKEY_ENABLED: "false",
  STILE_MFA_ENABLED: "false",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
  STILE_SESSION_LIMIT: "1000",
  STILE_SESSION_ALGORITHM: "ES256",
};

/** Time after which a visitor gives up an answer. */
const GIVE_UP_MS = 15_000;

const addressOf = (account: number) => `visitor${account}@example.com`;

/**
 * Signs up the accounts, and then signs them in until it is ended.
 *
 * @param rate logins a second
 * @param remembersSessions whether each session has to be valid at the end. Default: true
 */
export async function startLoad(
  url: string,
  rate: number,
  { remembersSessions = true }: { remembersSessions?: boolean } = {},
): Promise<Load> {
  for (let account = 0; account < ACCOUNTS; account += 1)
    await signUp(flowClient(url), { email: addressOf(account), password });
  const running = new Set<Promise<void>>();
  const sessions: string[] = [];
  const interruptions = new Set<string>();
  const result = { succeeded: 0, interrupted: 0, failed: 0, longestGapMs: 0 };
  let lastSuccess = performance.now();
  let isEnding = false;

  async function login(account: number): Promise<void> {
    try {
      const client = await withinTime(signIn(url, addressOf(account)));
      if (remembersSessions) sessions.push(cookiesOf(client));
      result.succeeded += 1;
      const now = performance.now();
      result.longestGapMs = Math.max(result.longestGapMs, now - lastSuccess);
      lastSuccess = now;
    } catch (error) {
      if (error instanceof Failed) result.failed += 1;
      else {
        result.interrupted += 1;
        interruptions.add(messageOf(error));
      }
    }
  }

  const loop = (async () => {
    for (let count = 0; !isEnding; count += 1) {
      const one = login(count % ACCOUNTS).finally(() => running.delete(one));
      running.add(one);
      await pause(1_000 / rate);
    }
  })();
  return {
    succeeded: () => result.succeeded,
    async end() {
      isEnding = true;
      await loop;
      await Promise.all(running);
      // Logins that have not succeeded again end no gap.
      result.longestGapMs = Math.max(result.longestGapMs, performance.now() - lastSuccess);
      const lost = await eventually(() => countInvalid(url, sessions));
      return {
        ...result,
        interruptions: [...interruptions],
        longestGapMs: Math.round(result.longestGapMs),
        lost,
      };
    },
  };
}

/** What a login met; of a request without an answer, the reason below `fetch failed`. */
function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** An answer that no visitor should get. */
class Failed extends Error {}

async function withinTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = AbortSignal.timeout(GIVE_UP_MS);
  return Promise.race([
    work,
    new Promise<never>((_, reject) => late.addEventListener("abort", () => reject(late.reason))),
  ]);
}

/**
 * Signs in an account with the password of visitors.
 *
 * @throws Error if that is interrupted or fails
 */
export async function signIn(url: string, email: string): Promise<FlowClient> {
  const client = flowClient(url);
  const heed = async ({ status }: { status: number }) => {
    if (status === 503) throw new Error("unavailable");
    if (status >= 500) throw new Failed(`answered ${status}`);
  };
  await heed(await client.start("login", { capabilities: {} }));
  if (client.state.actions.register_client_capabilities)
    await heed(await client.act("register_client_capabilities"));
  await heed(await client.act("continue_with_login_identifier", { email }));
  if (client.state.actions.continue_to_password_login)
    await heed(await client.act("continue_to_password_login"));
  await heed(await client.act("password_login", { password }));
  if (client.state.name !== "success") throw new Error(`a login ended in ${client.state.name}`);
  return client;
}

/** The cookies of a client, as a header. */
export const cookiesOf = (client: FlowClient) =>
  [...client.cookies].map(([name, value]) => `${name}=${value}`).join("; ");

/** @throws Error while the server does not answer */
async function countInvalid(url: string, sessions: readonly string[]): Promise<number> {
  let invalid = 0;
  for (const cookie of sessions) {
    const answer = await fetch(`${url}/sessions/validate`, { headers: { cookie } });
    if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
    const { is_valid } = (await answer.json()) as { is_valid: boolean };
    if (!is_valid) invalid += 1;
  }
  return invalid;
}

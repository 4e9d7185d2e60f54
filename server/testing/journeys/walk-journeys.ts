import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { type FlowClient, flowClient } from "../flow-client.ts";
import { freePort } from "../free-port.ts";
import { withClient } from "../postgres-cluster.ts";
import { type RunningServer, startServer } from "../server.ts";
import { runStile } from "../stile.ts";
import { smsSettings } from "./codes-by-sms.ts";
import { allJourneys } from "./index.ts";
import { complete, type Fixtures, newPerson } from "./journey.ts";
import { startProviders } from "./settings.ts";

/** A server with a database of its own, on which every journey was walked. */
export interface WalkedServer {
  server: RunningServer;
  databaseUrl: string;
  query(text: string, parameters?: unknown[]): Promise<Record<string, unknown>[]>;
  fixtures: Fixtures;
  /** Of calls of the administration interface. */
  adminHeaders: Record<string, string>;
  /** Values that users and their browsers have sent, or were given to keep. */
  values: ReadonlySet<string>;
  /** Actions of the users. */
  performed: number;
  stop(): Promise<void>;
}

/** Where a walked server keeps its data. */
export interface WalkedDatabase {
  /** The `DATABASE_URL` of the server. */
  url: string;
  /** The address of the one server that takes writes; default: `url`. */
  primaryUrl?(): Promise<string>;
  /** Further settings of the server. */
  env?: Record<string, string>;
}

/**
 * Starts a server and walks every journey of users to its end, one after the other.
 *
 * @param on an empty or a migrated database. Default: a new one of the tests' PostgreSQL
 */
export async function walkJourneys(on?: WalkedDatabase): Promise<WalkedServer> {
  const { url, primaryUrl = async () => url, env } = on ?? { url: await createDatabase() };
  const query: WalkedServer["query"] = async (text, parameters = []) =>
    withClient(await primaryUrl(), async (client) => (await client.query(text, parameters)).rows);
  const origin = `http://localhost:${await freePort()}`;
  const { settings, close, ...providers } = await startProviders(origin);
  const server = await startServer({
    env: {
      ...settings,
      ...smsSettings,
      DATABASE_URL: url,
      STILE_SERVER_HOSTS: "localhost",
      STILE_RATE_LIMITER_ENABLED: "false",
      ...env,
    },
  });
  const at = { cwd: server.folder, env: server.environment };
  const keyOf = async (of: string) => (await runStile(["keys", "create", "--interface", of], at)).out.trim();
  const adminHeaders = { authorization: `Bearer ${await keyOf("admin")}` };
  const fixtures = { ...providers, origin, query, authenticatorKey: await keyOf("authenticator") };

  const values = new Set<string>();
  let performed = 0;
  for (const journey of allJourneys) {
    const person = newPerson();
    const client = noting(flowClient(server.url), values, () => {
      performed += 1;
    });
    await journey.prepare?.({ server, client, person, fixtures });
    await complete(journey, { client, person, fixtures });
    for (const text of [person.email, person.phoneNumber, person.totpSecret, ...person.usedCodes])
      if (text) values.add(text);
  }
  return {
    server,
    databaseUrl: url,
    query,
    fixtures,
    adminHeaders,
    values,
    performed,
    async stop() {
      await server.stop();
      await close();
    },
  };
}

async function createDatabase(): Promise<string> {
  const { adminUrl, ownerUrl } = inject("postgres");
  const name = `journeys_${randomUUID().replaceAll("-", "")}`;
  await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
  return ownerUrl.replace(/[^/]+$/, name);
}

/** Texts in a value of JSON that are long enough to be told from others. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length >= 5 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Lets a client note what it sends, and the tokens and cookies that it holds. */
function noting(client: FlowClient, values: Set<string>, onAction: () => void): FlowClient {
  const act: FlowClient["act"] = client.act;
  client.act = async (action, input = {}) => {
    onAction();
    for (const text of [client.state.csrf_token, ...textsIn(input)]) values.add(text);
    const answer = await act(action, input);
    for (const [, cookie] of client.cookies) values.add(cookie);
    for (const text of textsIn(answer.state.payload.recovery_codes ?? [])) values.add(text);
    return answer;
  };
  return client;
}

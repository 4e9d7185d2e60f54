import { randomInt, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openDatabase } from "#db/client";
import { loadConfig } from "../../config/load.ts";
import { eventually } from "../../testing/eventually.ts";
import { type FlowClient, flowClient, type State } from "../../testing/flow-client.ts";
import {
  formerRelease,
  hasFormerRelease,
  runFormerCli,
  startFormerRelease,
} from "../../testing/former-release.ts";
import { freePort } from "../../testing/free-port.ts";
import { testJobs } from "../../testing/jobs.ts";
import { smsSettings } from "../../testing/journeys/codes-by-sms.ts";
import { allJourneys } from "../../testing/journeys/index.ts";
import {
  begin,
  beginAll,
  complete,
  describeWalk,
  type Fixtures,
  finish,
  hasEnded,
  keepWaiting,
  moved,
  newAddress,
  newPerson,
  step,
  type Walk,
} from "../../testing/journeys/journey.ts";
import { byPassword } from "../../testing/journeys/logins.ts";
import { registered, registration, signedUp } from "../../testing/journeys/registrations.ts";
import { startProviders } from "../../testing/journeys/settings.ts";
import { withClient } from "../../testing/postgres-cluster.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { flowTypes, reauthenticationStates } from "../names.ts";
import { FLOW_FORMAT } from "../stored-data/stored-flow-data.ts";

/**
 * Flows that the former release has begun go on under the present version, and the other way round while servers of both
 * run on one database. The former release is started from its commit.
 */

const isAvailable = await hasFormerRelease();

const defaultTenantId = loadConfig({}, import.meta.dirname).tenant.id;

let databaseUrl: string;
let fixtures: Fixtures;
let former: RunningServer;
let present: RunningServer;
let closeProviders: () => Promise<void>;

/** Each action at another server than the one before. */
async function inTurn(walk: Walk, servers: RunningServer[]): Promise<void> {
  let current = walk;
  while (!hasEnded(current)) {
    current = moved(current, servers[(current.steps + 1) % servers.length] as RunningServer);
    await step(current);
    current.steps += 1;
  }
}

/**
 * Visitors of a balancer whose servers are replaced: each action of a login goes to any of those that are in use.
 *
 * @param first the server that is in use at first
 */
async function startVisits(first: RunningServer) {
  const person = newPerson();
  await registered(registration)({ server: first, client: flowClient(first.url), person, fixtures });
  const result = { logins: 0, failures: [] as string[] };
  let inUse = [first];
  const busy = new Map<RunningServer, number>();
  let isOver = false;
  const anyServer = () => inUse[randomInt(inUse.length)] as RunningServer;
  const at = async (server: RunningServer, action: () => Promise<unknown>) => {
    busy.set(server, (busy.get(server) ?? 0) + 1);
    await action().finally(() => busy.set(server, (busy.get(server) ?? 0) - 1));
  };
  const logIn = async () => {
    const server = anyServer();
    let walk: Walk = { journey: byPassword, client: flowClient(server.url), person, fixtures, steps: 0 };
    await at(server, () => walk.client.start(byPassword.type));
    while (!hasEnded(walk)) {
      const next = anyServer();
      walk = moved(walk, next);
      await at(next, () => step(walk));
      walk.steps += 1;
    }
    const last = anyServer();
    const browser = moved(walk, last).client;
    await at(last, async () => {
      const answer = await browser.request("/sessions/validate");
      expect(await answer.json()).toMatchObject({ is_valid: true });
    });
  };
  const visit = async () => {
    while (!isOver) {
      await logIn().catch((error: unknown) => result.failures.push((error as Error).message));
      result.logins += 1;
    }
  };
  const visits = [visit(), visit(), visit()];
  const goOn = (count: number) => {
    const until = result.logins + count;
    return eventually(() => expect(result.logins).toBeGreaterThan(until));
  };
  return {
    /** Goes on at these servers alone, once each action at another one is answered, and with a number of logins. */
    async use(servers: RunningServer[]) {
      inUse = servers;
      const others = [...busy.keys()].filter((server) => !servers.includes(server));
      await eventually(() => expect(others.map((server) => busy.get(server))).toEqual(others.map(() => 0)));
      await goOn(10);
    },
    async end() {
      isOver = true;
      await Promise.all(visits);
      return result;
    },
  };
}

/** Logs in at the former release, one after the other, until the work is done. */
async function loggingInDuring(work: () => Promise<void>): Promise<{ logins: number; failures: string[] }> {
  const person = newPerson();
  const client = () => flowClient(former.url);
  await registered(registration)({ server: former, client: client(), person, fixtures });
  const result = { logins: 0, failures: [] as string[] };
  let isDone = false;
  const logIn = async () => {
    while (!isDone) {
      await complete(byPassword, { client: client(), person, fixtures }).catch((error: unknown) => {
        result.failures.push((error as Error).message);
      });
      result.logins += 1;
    }
  };
  const logins = [logIn(), logIn(), logIn()];
  await work();
  isDone = true;
  await Promise.all(logins);
  return result;
}

const query = (text: string, values: unknown[]) =>
  withClient(databaseUrl, async (client) => (await client.query(text, values)).rows);

/** Finishes walks on another server, and returns what went wrong. */
async function failuresOf(walks: Walk[], server: RunningServer): Promise<string[]> {
  const failures: string[] = [];
  for (const walk of walks) {
    await finish(moved(walk, server)).catch((error: unknown) => {
      failures.push(`${describeWalk(walk)}: ${(error as Error).message}`);
    });
  }
  return failures;
}

/** No flow is stopped in these, because it has ended there: no server goes on with it. */
const finalStates = ["account_deleted", "success"];

/** The former release has no OpenID provider, so that these flows stay with servers of this version. */
const ofApplications = ["account_choice", "device_code", "consent", "consent_answered"];

/** Lists the states that the flow engine of a server declares. */
async function declaredStates(server: RunningServer): Promise<string[]> {
  const graph = await fetch(`${server.url}/.well-known/flow-graph.json`);
  const { flows } = (await graph.json()) as { flows: Record<string, { states: string[] }> };
  return [...new Set(Object.values(flows).flatMap(({ states }) => states))].sort();
}

const about = "servers of the former release and of this version on one database";
const { version, commit } = formerRelease;
const why = isAvailable ? "" : ` (skipped: this clone does not hold ${version}, commit ${commit})`;

describe.skipIf(!isAvailable)(about + why, () => {
  let byFormer: Walk[];
  let byPresent: Walk[];
  /** Logins at the former release while the database was migrated. */
  let meanwhile: { logins: number; failures: string[] };

  beforeAll(async () => {
    const { adminUrl, ownerUrl } = inject("postgres");
    const name = `former_${randomUUID().replaceAll("-", "")}`;
    await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
    databaseUrl = ownerUrl.replace(/[^/]+$/, name);
    const origin = `http://localhost:${await freePort()}`;
    const { settings, close, ...providers } = await startProviders(origin);
    closeProviders = close;
    const env = {
      ...settings,
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: "a key for this test alone",
      STILE_SERVER_HOSTS: "localhost",
      STILE_SESSION_ALGORITHM: "ES256",
      STILE_RATE_LIMITER_ENABLED: "false",
      ...smsSettings,
    };
    former = await startFormerRelease(env);
    // The mailbox of development keeps 200 mails, and more walks wait for their codes.
    await query("create rule keep_mails as on delete to mailbox do instead nothing", []);
    const authenticatorKey = await runFormerCli(former, "keys", "create", "--interface", "authenticator");
    fixtures = { ...providers, origin, query, authenticatorKey };
    byFormer = await beginAll(allJourneys, former, fixtures);
    await keepWaiting(fixtures);
    meanwhile = await loggingInDuring(async () => {
      present = await startServer({ env });
    });
    byPresent = await beginAll(allJourneys, present, fixtures);
    await keepWaiting(fixtures);
  });

  afterAll(async () => {
    await former?.stop();
    await present?.stop();
    await closeProviders?.();
  });

  test("A162 no login at the former release failed while the database was migrated", async () => {
    expect(meanwhile.failures).toEqual([]);
    expect(meanwhile.logins).toBeGreaterThan(0);
    const log = readFileSync(inject("postgres").logFile, "utf8").split("\n");
    const name = new URL(databaseUrl).pathname.slice(1);
    expect(log.filter((line) => line.includes(name) && line.includes("deadlock"))).toEqual([]);
  });

  test("flows were stopped in every state that either version declares", async () => {
    for (const [server, walks] of [
      [former, byFormer],
      [present, byPresent],
    ] as const) {
      const stopped = new Set(walks.map(({ client }) => client.state.name));
      const declared = (await declaredStates(server)).filter((state) => !ofApplications.includes(state));
      expect(declared.filter((state) => !stopped.has(state))).toEqual(finalStates);
      const types = flowTypes.filter((type) => type !== "consent");
      expect([...new Set(walks.map(({ journey }) => journey.type))].sort()).toEqual(types.sort());
      const onAccountPage = walks.filter(({ journey }) => journey.type === "profile");
      expect(onAccountPage.map(({ client }) => client.state.name)).toEqual(
        expect.arrayContaining([...reauthenticationStates, "login_otp"]),
      );
    }
  });

  test("a flow that the former release began ends under this version, from every state", async () => {
    expect(await failuresOf(byFormer, present)).toEqual([]);
  });

  test("a flow that this version began ends under the former release while both run, from every state", async () => {
    expect(await failuresOf(byPresent, former)).toEqual([]);
  });

  test("a flow ends whose steps are taken by both in turn", async () => {
    const failures: string[] = [];
    for (const journey of allJourneys) {
      for (const order of [
        [former, present],
        [present, former],
      ]) {
        const walk = (await begin(journey, order[0] as RunningServer, fixtures, 0)) as Walk;
        await inTurn(walk, order).catch((error: unknown) => {
          failures.push(`${describeWalk(walk)}: ${(error as Error).message}`);
        });
      }
    }
    expect(failures).toEqual([]);
  });

  test("A163 the former release does not sign in a person that this version has blocked", async () => {
    const walk = (await begin(byPassword, former, fixtures, 2)) as Walk;
    const { email } = walk.person;
    await query(
      `update users set blocked_at = now() from emails e
       where e.tenant_id = users.tenant_id and e.user_id = users.id and e.address = $1`,
      [email],
    );
    await expect(finish(moved(walk, former))).rejects.toThrow();
    const again = { ...walk, client: flowClient(former.url), steps: 0 };
    await again.client.start("login");
    await expect(finish(again)).rejects.toThrow();
    expect(again.client.state.name).not.toBe("success");
    const sessions = await query(
      "select from sessions s join emails e on e.user_id = s.user_id where e.address = $1 and s.created_at > now() - interval '1 hour'",
      [email],
    );
    // That of the registration.
    expect(sessions).toHaveLength(1);
  });

  test("a flow that the former release would do wrongly is left by it to a server of this version", async () => {
    const walk = (await begin(byPassword, present, fixtures, 2)) as Walk;
    const { email } = walk.person;
    const [flow] = await query(
      `update flows set data = data || $1::jsonb where id = (
        select id from flows where data ->> 'email' = $2 order by created_at desc limit 1) returning id`,
      [JSON.stringify({ readableFrom: FLOW_FORMAT }), email],
    );
    expect(flow).toBeDefined();
    const there = moved(walk, former).client;
    const refused = await there.act("continue_to_password_login");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    await finish(walk);
    expect(walk.client.state.name).toBe("success");
  });

  /** Registers at each, and expects that the other accepts the session. Returns the algorithms of the tokens. */
  async function acceptEachOther(): Promise<unknown[]> {
    const algorithms: unknown[] = [];
    for (const [issuing, other] of [
      [present, former],
      [former, present],
    ] as const) {
      const client = flowClient(issuing.url);
      await signedUp(registration)({ server: issuing, client, person: newPerson(), fixtures });
      const elsewhere = flowClient(other.url);
      for (const [name, value] of client.cookies) elsewhere.cookies.set(name, value);
      const validated = await elsewhere.request("/sessions/validate");
      expect(await validated.json()).toMatchObject({ is_valid: true });
      algorithms.push(decodeProtectedHeader(client.cookies.get("service") ?? "").alg);
    }
    return algorithms;
  }

  test("a session that either has issued is one of both", async () => {
    expect(await acceptEachOther()).toEqual(["ES256", "ES256"]);
  });

  test("A181 the former release verifies and signs by an algorithm that was changed at this version", async () => {
    present.environment.STILE_SESSION_ALGORITHM = "EdDSA";
    await present.restart();
    const made = "select from signing_keys where algorithm = 'EdDSA'";
    await eventually(async () => expect(await query(made, [])).toHaveLength(1));
    await query("update signing_keys set created_at = created_at - interval '12 minutes'", []);
    await present.restart();
    expect(await acceptEachOther()).toEqual(["EdDSA", "EdDSA"]);
  });

  test("a page goes on here with the cookie of a flow that the former release began", async () => {
    const client = flowClient(former.url);
    const call = async (at: FlowClient, procedure: string, input: object = {}) => {
      const response = await at.request(`/api/trpc/${procedure}`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ type: "login", ...input }),
      });
      return (await response.json()).result.data as { state: State; version: number };
    };
    const { version } = await call(client, "flow.start");
    const acted = await call(client, "flow.act", {
      action: "register_client_capabilities",
      version,
      input: { webauthn_available: true },
    });
    expect(acted.state.name).toBe("login_init");
    const here = flowClient(present.url);
    for (const [name, value] of client.cookies) here.cookies.set(name, value);
    expect((await call(here, "flow.current")).state.name).toBe("login_init");
  });

  test("a mail that the former release does not know waits for a server of this version", async () => {
    await present.kill("SIGTERM");
    const database = openDatabase(databaseUrl, 2, () => {});
    const jobs = testJobs({ database });
    await jobs.start({ worker: false });
    const to = newAddress();
    const send = (type: "recovery_offered" | "passkey_create") =>
      database.write.transaction((tx) =>
        jobs.enqueue(
          tx,
          { name: "send_mail", tenantId: defaultTenantId, to, language: "en", mail: { type } },
          null,
        ),
      );
    const mailed = async () => (await query("select from mailbox where recipient = $1", [to])).length;
    await send("recovery_offered");
    await send("passkey_create");
    await eventually(async () => expect(await mailed()).toBe(1));
    const waiting = "select state from pgboss.job where data->>'to' = $1 or data->>'recipient' = $1";
    await eventually(async () => expect(await query(waiting, [to])).toEqual([{ state: "retry" }]));
    await former.kill("SIGTERM");
    await query("update pgboss.job set start_after = now() where state = 'retry'", []);
    await jobs.runDue(100);
    expect([await mailed(), await query(waiting, [to])]).toEqual([2, []]);
    await jobs.stop();
    await database.close();
    await former.restart();
  });

  test("A162 servers are replaced, and the former ones taken back, without a failed login", async () => {
    const visits = await startVisits(former);
    await visits.use([former]);
    await present.restart();
    await visits.use([former, present]);
    await visits.use([present]);
    await former.kill("SIGTERM");
    await visits.use([present]);
    await former.restart();
    await visits.use([former, present]);
    await visits.use([former]);
    await present.kill("SIGTERM");
    await visits.use([former]);
    const { logins, failures } = await visits.end();
    expect(failures).toEqual([]);
    expect(logins).toBeGreaterThan(60);
  });
});

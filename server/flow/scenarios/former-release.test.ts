import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openDatabase } from "#db/client";
import { loadConfig } from "../../config/load.ts";
import { mailQueueOf } from "../../mail/messages.ts";
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
import { codesBySms, smsSettings } from "../../testing/journeys/codes-by-sms.ts";
import { journeys } from "../../testing/journeys/index.ts";
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
import { byProvider } from "../../testing/journeys/profiles.ts";
import { registered, registration, signedUp } from "../../testing/journeys/registrations.ts";
import { startProviders } from "../../testing/journeys/settings.ts";
import { withClient } from "../../testing/postgres-cluster.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { flowTypes, reauthenticationStates } from "../names.ts";

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
    const next = servers[(current.steps + 1) % servers.length] as RunningServer;
    current = moved(current, describeWalk(current) === refusedByFormer ? present : next);
    await step(current);
    current.steps += 1;
  }
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

/** The former release asks for a second factor before a passkey, so it does not let the passkey be skipped here. */
const refusedByFormer = "a registration with a security key, from onboarding_create_passkey";

const about = "servers of the former release and of this version on one database";
const { version, commit } = formerRelease;
const why = isAvailable ? "" : ` (skipped: this clone does not hold ${version}, commit ${commit})`;

describe.skipIf(!isAvailable)(about + why, () => {
  let byFormer: Walk[];
  let byPresent: Walk[];
  /** What the former release has no states for. */
  let bySms: Walk[];
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
    };
    former = await startFormerRelease(env);
    // The mailbox of development keeps 200 mails, and more walks wait for their codes.
    await query("create rule keep_mails as on delete to mailbox do instead nothing", []);
    const authenticatorKey = await runFormerCli(former, "keys", "create", "--interface", "authenticator");
    fixtures = { ...providers, origin, query, authenticatorKey };
    byFormer = await beginAll(journeys, former, fixtures);
    await keepWaiting(fixtures);
    meanwhile = await loggingInDuring(async () => {
      present = await startServer({ env: { ...env, ...smsSettings } });
    });
    byPresent = await beginAll(journeys, present, fixtures);
    bySms = await beginAll(codesBySms, present, fixtures);
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
      [present, [...byPresent, ...bySms]],
    ] as const) {
      const stopped = new Set(walks.map(({ client }) => client.state.name));
      const declared = (await declaredStates(server)).filter((state) => !ofApplications.includes(state));
      expect(declared.filter((state) => !stopped.has(state))).toEqual(finalStates);
      const types = flowTypes.filter((type) => type !== "consent");
      expect([...new Set(walks.map(({ journey }) => journey.type))].sort()).toEqual(types.sort());
      const onAccountPage = walks.filter(({ journey }) => journey.type === "profile");
      expect(onAccountPage.map(({ client }) => client.state.name)).toEqual(
        expect.arrayContaining([
          ...reauthenticationStates.filter((state) => walks !== byFormer || state !== "phone_confirmation"),
          "login_otp",
        ]),
      );
    }
  });

  test("a flow that the former release began ends under this version, from every state", async () => {
    expect(await failuresOf(byFormer, present)).toEqual([]);
  });

  test("a flow that this version began ends under the former release while both run, from every state", async () => {
    const refused = byPresent.filter((walk) => describeWalk(walk) === refusedByFormer);
    expect(refused).toHaveLength(1);
    expect(
      await failuresOf(
        byPresent.filter((walk) => !refused.includes(walk)),
        former,
      ),
    ).toEqual([]);
    // What a server of the former release does not offer leaves the flow as it was.
    expect(await failuresOf(refused, former)).toEqual([
      expect.stringContaining("operation_not_permitted_error"),
    ]);
    expect(await failuresOf(refused, present)).toEqual([]);
  });

  test("A177 the former release goes on with no flow that waits for a code by SMS", async () => {
    const isWaiting = ({ client }: Walk) =>
      ["login_sms", "phone_confirmation", "mfa_phone_creation"].includes(client.state.name);
    const waiting = bySms.filter(isWaiting);
    expect(new Set(waiting.map(({ client }) => client.state.name)).size).toBe(3);
    expect(await failuresOf(waiting, former)).toHaveLength(waiting.length);
    expect(
      await failuresOf(
        bySms.filter((walk) => !isWaiting(walk)),
        present,
      ),
    ).toEqual([]);
  });

  test("a flow ends whose steps are taken by both in turn", async () => {
    const failures: string[] = [];
    for (const journey of journeys) {
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

  test("A164 the former release goes on with no flow whose session is for the holder of a verifier", async () => {
    const client = flowClient(present.url);
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const started = await client.request(`/login?code_challenge=${challenge}`, { method: "POST" });
    const there = flowClient(former.url);
    there.adopt((await started.json()) as State);
    const refused = await there.act("register_client_capabilities");
    expect([refused.status, refused.state.name]).toEqual([500, "error"]);
    expect(there.cookies.size).toBe(0);
  });

  test("A130 the former release connects no identity that came back for a re-authentication", async () => {
    const walk = (await begin(byProvider, present, fixtures, 3)) as Walk;
    expect(walk.client.state.name).toBe("thirdparty");
    const account = `tenant_id = '${defaultTenantId}' and user_id = (select user_id from emails where address = $1)`;
    const ofAccount = (statement: string) => query(`${statement} where ${account}`, [walk.person.email]);
    const before = await ofAccount("select subject from identities");
    const anotherUser = { sub: "another user", auth_time: Math.floor(Date.now() / 1000) };
    fixtures.provider.signsIn(anotherUser);
    const there = moved(walk, former).client;
    const token = await fixtures.provider.visit(there);
    const refused = await there.act("exchange_token", { token });
    expect(await ofAccount("select subject from identities")).toEqual(before);
    expect([refused.status, refused.state.name]).toEqual([500, "error"]);

    // It holds the claim of what it cannot read for 15 seconds. Then the flow goes on here.
    await ofAccount("update flows set claimed_until = clock_timestamp()");
    await walk.client.act("back");
    await finish(walk);
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

  test("the former release leaves mails that it does not know to a server of this version", async () => {
    await present.kill("SIGTERM");
    const database = openDatabase(databaseUrl, 2, () => {});
    const jobs = testJobs({ database });
    await jobs.start({ worker: false });
    const to = newAddress();
    const send = (type: "account_delete" | "passkey_create") =>
      database.write.transaction((tx) =>
        jobs.enqueue(
          tx,
          { name: mailQueueOf(type), tenantId: defaultTenantId, to, language: "en", mail: { type } },
          null,
        ),
      );
    const mailed = async () => (await query("select from mailbox where recipient = $1", [to])).length;
    await send("account_delete");
    await send("passkey_create");
    await eventually(async () => expect(await mailed()).toBe(1));
    const waiting = "select name, state from pgboss.job where data->>'to' = $1 or data->>'recipient' = $1";
    expect(await query(waiting, [to])).toEqual([{ name: "send_newer_mail", state: "created" }]);
    await jobs.runDue(100);
    expect([await mailed(), await query(waiting, [to])]).toEqual([2, []]);
    await jobs.stop();
    await database.close();
  });
});

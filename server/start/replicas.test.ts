import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { freePort } from "../testing/free-port.ts";
import { parseOpenMetrics } from "../testing/open-metrics.ts";
import { startTestCluster, withClient } from "../testing/postgres-cluster.ts";
import { type PostgresPair, startPostgresPair } from "../testing/postgres-pair.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { signUp as signUpWith } from "../testing/sign-up.ts";
import { countStatements, type StatementCounter } from "../testing/statement-counter.ts";
import { runStile } from "../testing/stile.ts";

const METRICS_KEY = "a key of the metrics";

/** Statements that processes send by themselves. */
const ofWatch = /^replicas_primary$|pg_last_wal_replay_lsn|leased_until/;

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startPair(options: Parameters<typeof startPostgresPair>[0] = {}): Promise<PostgresPair> {
  const pair = await startPostgresPair({ isSynchronous: false, ...options });
  ends.push(() => pair.stop());
  return pair;
}

async function countAt(url: string): Promise<StatementCounter> {
  const counter = await countStatements(url);
  ends.push(() => counter.close());
  return counter;
}

// biome-ignore lint/suspicious/noExplicitAny: a client has no types of its own.
type Json = any;

/** A server, and what operators and users of it ask. */
interface Service {
  server: RunningServer;
  /** Calls `/admin<path>` with a key, and returns the answer. */
  admin(method: string, path: string, body?: object): Promise<{ status: number; body: Json }>;
  /** The values of a metric, one of each process. */
  metric(name: string, labels?: Record<string, string>): Promise<number[]>;
}

async function startService(env: Record<string, string>, key?: string): Promise<Service & { key: string }> {
  const port = await freePort();
  const server = await startServer({
    env: {
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_METRICS_PORT: String(port),
      STILE_METRICS_KEY: METRICS_KEY,
      ...env,
    },
  });
  ends.push(() => server.stop());
  const start = { cwd: server.folder, env: server.environment };
  const own = key ?? (await runStile(["keys", "create", "--interface", "admin"], start)).out.trim();
  return {
    server,
    key: own,
    async admin(method, path, body) {
      const answer = await fetch(`${server.url}/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${own}`, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
    },
    async metric(name, labels = {}) {
      const headers = { authorization: `Bearer ${METRICS_KEY}` };
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
      const samples = [...parseOpenMetrics(await answer.text()).values()].flatMap((family) => family.samples);
      return samples
        .filter(
          (sample) =>
            sample.name === name &&
            Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
        )
        .map(({ value }) => value);
    },
  };
}

/** Whether each process uses the first replica. */
const isUsed = ({ metric }: Service) => metric("stile_database_replica_used_ratio", { stile_replica: "1" });

const readAt = async ({ metric }: Service, outcome: string) =>
  (await metric("stile_database_replica_reads_total", { stile_outcome: outcome })).reduce(
    (sum, value) => sum + value,
    0,
  );

/** Waits until each process uses the first replica, or none does. */
const untilUsed = (service: Service, used = 1, processes = 1) =>
  eventually(async () => expect(await isUsed(service)).toEqual(Array(processes).fill(used)));

/** Signs up, and returns the cookie of the session. */
async function signUp({ url }: RunningServer, name: string): Promise<string> {
  const client = flowClient(url);
  await signUpWith(client, { email: `${name}@example.com`, password: `a password of ${name}` });
  return [...client.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
}

async function ask({ url }: RunningServer, path: string, cookie: string) {
  const answer = await fetch(`${url}${path}`, { headers: { cookie } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const namesIn = ({ body }: { body: { name?: string }[] }) => body.map(({ name }) => name);

describe("with a replica", () => {
  test("lists, counts and the account of a session are read there, and the primary has one statement for each", async () => {
    const pair = await startPair();
    const [primary, standby] = [await countAt(pair.urls[0]), await countAt(pair.urls[1])];
    const service = await startService({
      DATABASE_URL: primary.url,
      STILE_DATABASE_REPLICAS: standby.url,
      // What is written beside the answers.
      STILE_RECORDER_ENABLED: "false",
    });
    const cookie = await signUp(service.server, "ada");
    await untilUsed(service);
    await service.admin("GET", "/users");
    const expected: Record<string, [primary: number, replica: number]> = {
      "/sessions/validate": [1, 0],
      "/me": [1, 1],
      "/users": [1, 2],
      "/users?q=ada": [1, 2],
      "/audit_logs": [1, 2],
      "/funnel": [1, 3],
      "/overview": [2, 9],
      "/statistics": [1, 4],
    };
    const call = (what: string) =>
      what === "/me" || what === "/sessions/validate"
        ? ask(service.server, what, cookie)
        : service.admin("GET", what);
    /** The least of a few calls: a purge may come in between, and the replica may be late. */
    const count = async (what: string) => {
      const counts: [number, number][] = [];
      for (let turn = 0; turn < 8; turn += 1) {
        const before = [primary.sent.length, standby.sent.length];
        expect((await call(what)).status).toBe(200);
        const [ofPrimary = 0, ofReplica = 0] = [primary, standby].map(
          ({ sent }, index) =>
            sent.slice(before[index]).filter(({ statement }) => !ofWatch.test(statement)).length,
        );
        counts.push([ofPrimary, ofReplica]);
      }
      return counts.toSorted(([one], [other]) => one - other)[0];
    };
    const figures: [string, unknown][] = [];
    for (const what of Object.keys(expected)) figures.push([what, await count(what)]);
    expect(Object.fromEntries(figures)).toEqual(expected);
    // What changes something, and what decides, is never asked there.
    const atStandby = standby.sent.map(({ statement }) => statement);
    expect(atStandby.filter((text) => /^(session_|api_key|flow_|console)/.test(text))).toEqual([]);
    expect(standby.errors).toEqual([]);
  });

  test("a session that was ended is refused at once by every server, and changes show in lists, however far the replica is behind", async () => {
    const pair = await startPair();
    const secrets = { SECRET_KEYS: "a key that both of the servers have" };
    const env = { DATABASE_URL: pair.urls[0], STILE_DATABASE_REPLICAS: pair.urls[1], ...secrets };
    const one = await startService(env);
    const other = await startService({ ...env, BASE_URL: one.server.url }, one.key);
    const [ada, grace] = [await signUp(one.server, "ada"), await signUp(one.server, "grace")];
    await untilUsed(one);
    await untilUsed(other);
    const { body } = await ask(other.server, "/me", ada);
    const id = String(body.user_id);
    await pair.pauseReplay();

    // What the replica goes on to show is not what is answered.
    expect((await one.admin("PATCH", `/users/${id}`, { name: "Ada L." })).status).toBe(200);
    expect(namesIn(await other.admin("GET", "/users"))).toContain("Ada L.");
    expect((await ask(other.server, "/me", ada)).body).toMatchObject({ name: "Ada L." });
    expect((await one.admin("DELETE", `/users/${id}/sessions`)).status).toBe(204);
    for (const { server } of [other, one]) {
      expect((await ask(server, "/sessions/validate", ada)).body).toEqual({ is_valid: false });
      expect((await ask(server, "/me", ada)).status).toBe(401);
      expect((await ask(server, "/sessions/validate", grace)).body).toMatchObject({ is_valid: true });
    }
    const stale = await withClient(pair.urls[1], (client) => client.query("select name from users"));
    expect(stale.rows).not.toContainEqual({ name: "Ada L." });
    const live = await withClient(pair.urls[1], (client) => client.query("select from sessions"));
    expect(live.rowCount).toBe(2);

    // A user who signs out at one is signed out at the other.
    const out = await fetch(`${one.server.url}/logout`, { method: "POST", headers: { cookie: grace } });
    expect(out.status).toBe(204);
    expect((await ask(other.server, "/sessions/validate", grace)).body).toEqual({ is_valid: false });

    // It is out after the bound, and in again once it has replayed the log.
    await untilUsed(other, 0);
    await eventually(() =>
      expect(other.server.logs()).toContain("a replica is not used: it is too far behind the primary"),
    );
    const [lag] = await other.metric("stile_database_replica_lag_seconds");
    expect(lag).toBeGreaterThan(4);
    await pair.resumeReplay();
    await untilUsed(other);
    const before = await readAt(other, "replica");
    await eventually(async () => {
      expect(namesIn(await other.admin("GET", "/users"))).toContain("Ada L.");
      expect(await readAt(other, "replica")).toBeGreaterThan(before);
    });
    expect(other.server.logs().match(/a replica is not used/g)).toHaveLength(1);
  });

  test("an operator who changes a user finds the change in the next list, with a key or in the console", async () => {
    const pair = await startPair();
    const env = { DATABASE_URL: pair.urls[0], STILE_DATABASE_REPLICAS: pair.urls[1] };
    const service = await startService(env);
    const cookie = await signUp(service.server, "ada");
    await untilUsed(service);
    const id = String((await ask(service.server, "/me", cookie)).body.user_id);
    const token = randomBytes(32).toString("base64url");
    await withClient(pair.urls[0], async (client) => {
      const hash = createHash("sha256").update(token).digest();
      await client.query(
        "insert into console_grants (tenant_id, user_id, role) select tenant_id, id, 'operator' from users",
      );
      await client.query(
        `insert into console_sessions (tenant_id, id, session_id, token_hash, created_at, last_used_at, expires_at)
          select tenant_id, gen_random_uuid(), id, $1, now(), now(), now() + interval '1 hour' from sessions`,
        [hash],
      );
    });
    const inConsole = async (procedure: string, input: object) => {
      const answer = await fetch(`${service.server.url}/api/console/trpc/${procedure}`, {
        method: "POST",
        headers: {
          cookie: `stile-console=${token}`,
          "sec-fetch-site": "same-origin",
          "content-type": "application/json",
        },
        body: JSON.stringify(input),
      });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    for (let turn = 0; turn < 40; turn += 1) {
      const [name, another] = [`Ada ${turn}.`, `Ada L. ${turn}.`];
      expect((await service.admin("PATCH", `/users/${id}`, { name })).status).toBe(200);
      expect(namesIn(await service.admin("GET", "/users"))).toEqual([name]);
      await inConsole("updateUser", { id, body: { name: another } });
      expect(await inConsole("listUsers", { query: {} })).toContain(`"${another}"`);
    }
    // What was changed is recorded as it was at the primary.
    const { body } = await service.admin("GET", "/audit_logs?type=console_changed&per_page=50");
    expect(body).toHaveLength(40);
    // Mostly at the replica, which is a moment behind.
    expect(await readAt(service, "replica")).toBeGreaterThan(40);
    expect(await readAt(service, "failed")).toBe(0);
  });

  test.each([
    ["is killed", (pair: PostgresPair) => pair.killStandby()],
    ["hangs", (pair: PostgresPair) => pair.pauseStandby()],
  ])(
    "a read is repeated at the primary when the replica %s in the middle of it, and the replica is used again later",
    async (how, harm) => {
      const pair = await startPair();
      const service = await startService({
        DATABASE_URL: pair.urls[0],
        STILE_DATABASE_REPLICAS: pair.urls[1],
      });
      await signUp(service.server, "ada");
      await untilUsed(service);
      const failed = await readAt(service, "failed");
      await withClient(pair.urls[0], async (client) => {
        // The lock is one of the replica too, once it has the log of it. The read waits for it there.
        await client.query("begin; lock table audit_logs in access exclusive mode");
        await withClient(pair.urls[0], (another) => another.query("create table written ()"));
        const reading = await withClient(pair.urls[1], async (standby) => {
          const held = "select from pg_locks where relation = 'audit_logs'::regclass and granted";
          await eventually(async () => expect((await standby.query(held)).rowCount).toBe(1));
          const begun = service.admin("GET", "/audit_logs");
          await eventually(async () => {
            const { rowCount } = await standby.query("select from pg_locks where not granted");
            expect(rowCount).toBe(1);
          });
          return { begun };
        });
        harm(pair);
        await eventually(async () => {
          const { rowCount } = await client.query("select from pg_locks where not granted");
          expect(rowCount).toBe(1);
        });
        await client.query("commit");
        expect((await reading.begun).status).toBe(200);
      });
      expect(await readAt(service, "failed")).toBe(failed + 1);
      await untilUsed(service, 0);
      expect(service.server.logs()).toContain("a replica is not used: it does not answer");
      expect((await service.admin("GET", "/users")).body).toHaveLength(1);
      if (how === "hangs") pair.resumeStandby();
      else await pair.restartStandby();
      await untilUsed(service);
      expect(service.server.logs()).toContain("a replica is used");
    },
  );

  test("shows nothing old of a replica that starts again behind where it was", async () => {
    const pair = await startPair();
    const service = await startService({ DATABASE_URL: pair.urls[0], STILE_DATABASE_REPLICAS: pair.urls[1] });
    await signUp(service.server, "ada");
    await untilUsed(service);
    const { body } = await service.admin("GET", "/users");
    expect((await service.admin("PATCH", `/users/${body[0].id}`, { name: "Ada L." })).status).toBe(200);
    const before = await readAt(service, "replica");
    await eventually(async () => {
      expect(namesIn(await service.admin("GET", "/users"))).toEqual(["Ada L."]);
      expect(await readAt(service, "replica")).toBeGreaterThan(before);
    });
    let isOver = false;
    const asking = (async () => {
      const shown = new Set<unknown>();
      while (!isOver) for (const name of namesIn(await service.admin("GET", "/users"))) shown.add(name);
      return [...shown];
    })();
    pair.killStandby();
    await pair.restartStandby({ recovery_min_apply_delay: "3min" });
    const stale = await withClient(pair.urls[1], (client) => client.query("select name from users"));
    expect(stale.rows).not.toContainEqual({ name: "Ada L." });
    await pause(2_000);
    isOver = true;
    expect(await asking).toEqual(["Ada L."]);
  });

  test("a replica that was promoted is not used, and a server moves to it as its primary", async () => {
    const pair = await startPair();
    const service = await startService({ DATABASE_URL: pair.url, STILE_DATABASE_REPLICAS: pair.urls[1] });
    const cookie = await signUp(service.server, "ada");
    await untilUsed(service);
    // Both take writes now: what one of them gets is not on the other.
    await pair.promote();
    await untilUsed(service, 0);
    expect(service.server.logs()).toContain("a replica is not used: it is no standby any more");
    await signUp(service.server, "grace");
    expect((await service.admin("GET", "/users")).body).toHaveLength(2);
    pair.killPrimary();
    await eventually(async () => expect((await ask(service.server, "/me", cookie)).status).toBe(200));
    expect((await service.admin("GET", "/users")).body).toHaveLength(1);
  });

  test("a standby of another system is not used, and neither is one that still follows a former primary", async () => {
    const pair = await startPair();
    const foreign = await startTestCluster();
    ends.push(() => foreign.stop());
    await foreign.becomeStandby();
    // The primary goes on to write what its standby does not get, and is lost with it.
    pair.pauseStandby();
    await withClient(pair.urls[0], async (client) => {
      await client.query("create table lost as select generate_series(1, 200000) as n");
    });
    pair.killPrimary();
    pair.resumeStandby();
    await pair.promote();
    await pair.restartPrimaryAsStandby();
    const service = await startService({
      DATABASE_URL: pair.urls[1],
      STILE_DATABASE_REPLICAS: JSON.stringify([pair.urls[0], foreign.cluster.ownerUrl]),
    });
    const ahead = await withClient(pair.urls[0], async (client) => {
      const { rows } = await client.query("select pg_last_wal_replay_lsn()::text as lsn");
      return String(rows[0].lsn);
    });
    await withClient(pair.urls[1], async (client) => {
      const { rows } = await client.query("select pg_current_wal_lsn() < $1::pg_lsn as is", [ahead]);
      expect(rows).toEqual([{ is: true }]);
    });
    await eventually(() =>
      expect(service.server.logs()).toContain(
        "a replica is not used: it is a standby of another database cluster",
      ),
    );
    await signUp(service.server, "ada");
    // Longer than between two renewals.
    for (let second = 0; second < 8; second += 1) {
      expect((await service.admin("GET", "/users")).body).toHaveLength(1);
      await pause(1_000);
    }
    expect(await readAt(service, "replica")).toBe(0);
    expect(await isUsed(service)).toEqual([0]);
  });
});

describe("A361 a replica three minutes behind", () => {
  test("A361 is not used, is told of, and shows nothing old", async () => {
    const pair = await startPair({ ofStandby: { recovery_min_apply_delay: "3min" } });
    const service = await startService({ DATABASE_URL: pair.urls[0] });
    const cookie = await signUp(service.server, "ada");
    await service.server.restart({ STILE_DATABASE_REPLICAS: pair.urls[1] });
    await eventually(() =>
      expect(service.server.logs()).toContain("a replica is not used: it is too far behind the primary"),
    );
    expect(await isUsed(service)).toEqual([0]);
    const { body } = await service.admin("GET", "/users");
    expect(body).toHaveLength(1);
    expect((await service.admin("DELETE", `/users/${body[0].id}`)).status).toBe(204);
    expect((await service.admin("GET", "/users")).body).toEqual([]);
    expect((await ask(service.server, "/me", cookie)).status).toBe(401);
    expect(await readAt(service, "replica")).toBe(0);
    expect(await readAt(service, "none")).toBeGreaterThan(1);
  });
});

describe("A362 a primary that turns read-only", () => {
  test("A362 answers checks of sessions and lists, and refuses changes with 503 until it takes writes again", async () => {
    const pair = await startPair();
    const service = await startService({
      DATABASE_URL: pair.urls[0],
      STILE_DATABASE_REPLICAS: pair.urls[1],
      STILE_SERVER_WORKERS: "2",
    });
    const cookie = await signUp(service.server, "ada");
    await untilUsed(service, 1, 2);
    const { body } = await service.admin("GET", "/users");
    const change = () => service.admin("PATCH", `/users/${body[0].id}`, { name: "Ada" });
    const admin = pair.urls[0].replace("stile:test", "postgres:test").replace(/\/stile$/, "/postgres");
    const set = (value: string) =>
      withClient(admin, async (client) => {
        await client.query(`alter system set default_transaction_read_only = ${value}`);
        await client.query("select pg_reload_conf()");
      });
    await set("on");
    await eventually(async () => expect((await change()).status).toBe(503));
    const before = await readAt(service, "replica");
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await service.admin("GET", "/users")).status).toBe(200);
      expect((await ask(service.server, "/sessions/validate", cookie)).body).toMatchObject({
        is_valid: true,
      });
      expect((await ask(service.server, "/me", cookie)).status).toBe(200);
    }
    expect(await readAt(service, "replica")).toBeGreaterThan(before);
    await set("off");
    await eventually(async () => expect((await change()).status).toBe(200));
    expect(namesIn(await service.admin("GET", "/users"))).toEqual(["Ada"]);
  });
});

test.each([
  [
    "an address of several servers",
    JSON.stringify(["postgres://u:secret@one,two/stile"]),
    /must be postgres:\/\/ addresses, each of one server/,
  ],
  [
    "a standby of the embedded database",
    "postgres://u:secret@one/stile",
    /needs DATABASE_URL: the embedded database has no standbys/,
    "",
  ],
  ["what is no address", "https://u:secret@one/stile", /must be postgres:\/\/ addresses, each of one server/],
])(
  "a server does not start with %s as replicas, and says so without a password",
  async (_, replicas, message, url = "postgres://u@127.0.0.1:1/stile") => {
    const start = startServer({
      env: { ...(url === "" ? {} : { DATABASE_URL: url }), STILE_DATABASE_REPLICAS: replicas },
    });
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.not.toThrow("secret");
  },
);

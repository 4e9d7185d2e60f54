import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type CitusCluster, findCitus, startCitusCluster } from "../server/testing/citus-cluster.ts";
import { type FlowClient, flowClient } from "../server/testing/flow-client.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { type RunningServer, startServer } from "../server/testing/server.ts";
import { signUp } from "../server/testing/sign-up.ts";
import { runStile } from "../server/testing/stile.ts";
import { percentile } from "./figures.ts";
import { cpuTime, processTree } from "./process.ts";

/**
 * `node scripts/run.js bench/distributed.ts`: logins by password on one PostgreSQL and on a Citus cluster of a coordinator and
 * two workers, which servers enter at the coordinator, or at the two workers; in turns, each of another tenant. Prints their
 * rates, their processor time, that of the coordinator, and the statements of a login that Citus ran at one node and at
 * several. What servers ask of their own accord is counted while no visitor signs in, and is not among them.
 *
 * `DISTRIBUTED_TENANTS` (1000), each with a user; `DISTRIBUTED_ROUNDS` (5) of `DISTRIBUTED_SECONDS` (8). Citus has to be
 * installed (`scripts/citus.sh`). Build the server first.
 */
const numberOf = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const tenantCount = numberOf("DISTRIBUTED_TENANTS", 1_000);
const rounds = numberOf("DISTRIBUTED_ROUNDS", 5);
const seconds = numberOf("DISTRIBUTED_SECONDS", 8);
const CONNECTIONS = 16;

const person = { email: "visitor@example.com", password: "correct horse battery staple" };

/** A database that logins are measured on. */
interface Prepared {
  cluster: CitusCluster;
  env: Record<string, string>;
  tenants: string[];
}

interface Measured extends Prepared {
  name: string;
  /** Visitors are spread over them. */
  servers: RunningServer[];
}

interface Round {
  perSecond: number;
  serverMs: number;
  postgresMs: number;
  /** The part of the first node. */
  coordinatorMs: number;
  atOneNode: number;
  atSeveral: number;
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const programs = findCitus();
if (programs === null) throw new Error("Citus is not installed: see scripts/citus.sh");
// An exit, unlike the signal, also stops what was started.
process.once("SIGINT", () => process.exit(130));

const databases: Prepared[] = [];
const all: Measured[] = [];
try {
  for (const workers of [0, 2]) databases.push(await prepare(programs, workers));
  for (const database of databases) {
    const [coordinator = "", ...workers] = database.cluster.urls;
    const entries: Record<string, string[]> =
      workers.length === 0
        ? { "one PostgreSQL": [coordinator] }
        : { "a cluster, entered at the coordinator": [coordinator], "entered at two workers": workers };
    for (const [name, urls] of Object.entries(entries)) {
      const servers: RunningServer[] = [];
      all.push({ ...database, name, servers });
      for (const url of urls) servers.push(await start(database, url));
    }
  }
  for (const { servers, tenants } of all.slice(0, databases.length)) {
    const waiting = [...tenants];
    await together(async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
        await signUp(flowClient(`${servers[0]?.url}/t/${id}`), person);
    });
  }
  print(
    `${cpus().length} × ${cpus()[0]?.model.trim()}; ${tenantCount} tenants, ${CONNECTIONS} connections, medians of ${rounds}`,
  );
  const found = new Map<Measured, Round[]>(all.map((one) => [one, []]));
  for (const one of all) await measure(one);
  for (let round = 0; round < rounds; round += 1)
    for (const one of round % 2 === 0 ? all : all.toReversed()) found.get(one)?.push(await measure(one));
  for (const [{ name }, own] of found) {
    const median = (of: keyof Round) =>
      percentile(
        own.map((round) => round[of]),
        50,
      ).toFixed(2);
    print(
      `${name}: ${median("perSecond")} logins a second, ${median("serverMs")} + ${median("postgresMs")} ms of processor time ` +
        `(first node ${median("coordinatorMs")}), ${median("atOneNode")} statements at one node, ${median("atSeveral")} at several`,
    );
  }
} finally {
  for (const { servers } of all) for (const server of servers) await server.stop();
  for (const { cluster } of databases) await cluster.stop();
}

/** Starts a database with tenants: one PostgreSQL with Citus, or a distributed one. */
async function prepare(folder: string, workers: number): Promise<Prepared> {
  const cluster = await startCitusCluster(folder, workers);
  for (const url of cluster.adminUrls)
    await withClient(url, async (client) => {
      await client.query("alter system set citus.enable_stat_counters = on");
      await client.query("select pg_reload_conf()");
    });
  const [url = ""] = cluster.urls;
  const env = { SECRET_KEYS: "a".repeat(48), NODE_ENV: "production" };
  for (const words of ["migrate", ...(workers > 0 ? ["database distribute"] : [])]) {
    const { code, err } = await runStile(words.split(" "), {
      cwd: process.cwd(),
      env: { ...env, DATABASE_URL: url, NODE_ENV: "production" },
    });
    if (code !== 0) throw new Error(err);
  }
  const tenants = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "insert into tenants (id, name) select gen_random_uuid(), 'Tenant ' || i from generate_series(1, $1::int) i returning id",
      [tenantCount],
    );
    return rows.map(({ id }) => id);
  });
  return { cluster, env, tenants };
}

function start({ env }: Prepared, url: string): Promise<RunningServer> {
  return startServer({
    env: {
      ...env,
      DATABASE_URL: url,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
}

async function together(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/** What was counted so far, in processor time and statements. */
async function readings({ cluster, servers }: Measured) {
  const [first = 0] = cluster.pids();
  const statements = await Promise.all(cluster.adminUrls.map(counted));
  return {
    serverMs: cpuTime(servers.flatMap(({ pid }) => processTree(pid))),
    postgresMs: cpuTime(cluster.pids().flatMap((pid) => processTree(pid))),
    coordinatorMs: cpuTime(processTree(first)),
    atOneNode: statements.reduce((sum, { single }) => sum + single, 0),
    atSeveral: statements.reduce((sum, { multi }) => sum + multi, 0),
  };
}

type Readings = Awaited<ReturnType<typeof readings>>;

/** Differences of readings by what they are divided by. */
async function during(
  measured: Measured,
  work: () => Promise<number>,
): Promise<{ [Name in keyof Readings]: number }> {
  const before = await readings(measured);
  const count = await work();
  const after = await readings(measured);
  const names = Object.keys(before) as (keyof Readings)[];
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / count])) as Readings;
}

/** Signs visitors in for a while. Each login is of any tenant. */
async function measure(measured: Measured): Promise<Round> {
  const { servers, tenants } = measured;
  const idle = await during(measured, async () => {
    await pause(seconds * 1_000);
    return seconds * 1_000;
  });
  const startedAt = performance.now();
  let done = 0;
  let tookMs = 0;
  const own = await during(measured, async () => {
    await together(async () => {
      while (performance.now() - startedAt < seconds * 1_000) {
        const tenant = tenants[Math.floor(Math.random() * tenants.length)];
        const server = servers[done % servers.length];
        done += 1;
        await signIn(flowClient(`${server?.url}/t/${tenant}`));
      }
    });
    tookMs = performance.now() - startedAt;
    return done;
  });
  const perLogin = tookMs / done;
  return {
    ...own,
    perSecond: 1_000 / perLogin,
    atOneNode: own.atOneNode - idle.atOneNode * perLogin,
    atSeveral: own.atSeveral - idle.atSeveral * perLogin,
  };
}

async function signIn(client: FlowClient): Promise<void> {
  const { email, password } = person;
  await client.start("login", { capabilities: {} });
  await client.act("continue_with_login_identifier", { email });
  await client.act("continue_to_password_login");
  const { status, state } = await client.act("password_login", { password });
  if (state.name !== "success") throw new Error(`a login ended in ${state.name} with ${status}`);
}

/** Statements that a node has sent to others, or to itself, since it was started. */
async function counted(url: string): Promise<{ single: number; multi: number }> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ single: number; multi: number }>(
      `select sum(query_execution_single_shard)::float8 as single, sum(query_execution_multi_shard)::float8 as multi
      from citus_stat_counters`,
    );
    return rows[0] ?? { single: 0, multi: 0 };
  });
}

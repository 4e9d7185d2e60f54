import { cpus } from "node:os";
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
 * two workers, in turns, each of another tenant. Prints their rates, their processor time, and the statements of a login that
 * Citus ran at one node and at several.
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

interface Measured {
  name: string;
  cluster: CitusCluster;
  server: RunningServer;
  tenants: string[];
}

interface Round {
  perSecond: number;
  serverMs: number;
  postgresMs: number;
  atOneNode: number;
  atSeveral: number;
}

const print = (text: string) => process.stdout.write(`${text}\n`);
const programs = findCitus();
if (programs === null) throw new Error("Citus is not installed: see scripts/citus.sh");
// An exit, unlike the signal, also stops what was started.
process.once("SIGINT", () => process.exit(130));

const all: Measured[] = [];
try {
  for (const workers of [0, 2]) all.push(await open(programs, workers));
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
      `${name}: ${median("perSecond")} logins a second, ${median("serverMs")} + ${median("postgresMs")} ms of processor time, ` +
        `${median("atOneNode")} statements at one node, ${median("atSeveral")} at several`,
    );
  }
} finally {
  for (const { server, cluster } of all) {
    await server.stop();
    await cluster.stop();
  }
}

async function open(folder: string, workers: number): Promise<Measured> {
  const cluster = await startCitusCluster(folder, workers);
  const [url = ""] = cluster.urls;
  await withClient(cluster.adminUrls[0] ?? "", async (client) => {
    await client.query("alter system set citus.enable_stat_counters = on");
    await client.query("select pg_reload_conf()");
  });
  const env = { DATABASE_URL: url, SECRET_KEYS: "a".repeat(48), NODE_ENV: "production" as const };
  for (const words of ["migrate", ...(workers > 0 ? ["database distribute"] : [])]) {
    const { code, err } = await runStile(words.split(" "), { cwd: process.cwd(), env });
    if (code !== 0) throw new Error(err);
  }
  const server = await startServer({
    env: {
      ...env,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  const tenants = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "insert into tenants (id, name) select gen_random_uuid(), 'Tenant ' || i from generate_series(1, $1::int) i returning id",
      [tenantCount],
    );
    return rows.map(({ id }) => id);
  });
  const waiting = [...tenants];
  await together(async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
      await signUp(flowClient(`${server.url}/t/${id}`), person);
  });
  return {
    name: workers === 0 ? "one PostgreSQL" : `a coordinator and ${workers} workers`,
    cluster,
    server,
    tenants,
  };
}

async function together(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/** Signs visitors in for a while. Each login is of the next tenant. */
async function measure({ cluster, server, tenants }: Measured): Promise<Round> {
  const processes = () => processTree(server.pid);
  const databases = () => cluster.pids().flatMap((pid) => processTree(pid));
  const before = {
    server: cpuTime(processes()),
    postgres: cpuTime(databases()),
    counted: await counted(cluster),
  };
  const startedAt = performance.now();
  let done = 0;
  await together(async () => {
    while (performance.now() - startedAt < seconds * 1_000) {
      const tenant = tenants[Math.floor(Math.random() * tenants.length)];
      await signIn(flowClient(`${server.url}/t/${tenant}`));
      done += 1;
    }
  });
  const tookMs = performance.now() - startedAt;
  const after = await counted(cluster);
  return {
    perSecond: (done / tookMs) * 1_000,
    serverMs: (cpuTime(processes()) - before.server) / done,
    postgresMs: (cpuTime(databases()) - before.postgres) / done,
    atOneNode: (after.single - before.counted.single) / done,
    atSeveral: (after.multi - before.counted.multi) / done,
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

/** Statements that Citus has run so far, also those that the server sends of its own accord. */
async function counted(cluster: CitusCluster): Promise<{ single: number; multi: number }> {
  return withClient(cluster.adminUrls[0] ?? "", async (client) => {
    const { rows } = await client.query<{ single: number; multi: number }>(
      `select sum(query_execution_single_shard)::float8 as single, sum(query_execution_multi_shard)::float8 as multi
      from citus_stat_counters`,
    );
    return rows[0] ?? { single: 0, multi: 0 };
  });
}

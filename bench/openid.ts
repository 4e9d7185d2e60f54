import { cpus } from "node:os";
import { type BenchDatabase, openDatabase } from "./database.ts";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import { type Load, perform } from "./load.ts";
import { startBareProvider, startPeerProvider, startStile, stileProvider } from "./openid/providers.ts";
import { COUNTED_STEPS, makeOpenidWays, type OpenidWay, type Provider } from "./openid/ways.ts";
import { type Columns, costText, perSecond, table, timesText } from "./report.ts";
import { peerVersion } from "./start-peer.ts";

/**
 * `node scripts/run.js bench/openid.ts`: a single sign-on of a user with a session, from the authorization request over code and
 * tokens to UserInfo, and a refresh; Stile, better-auth's provider if it is installed, and `oidc-provider` alone with its adapter in
 * memory, in turns, and the statements of each step. `--statements` also prints their texts.
 *
 * `OPENID_SECONDS` (1) of a round, `OPENID_ROUNDS` (5), `OPENID_CONNECTIONS` (1,16), `OPENID_WARM_UP` (3) seconds before the first
 * round of a task, in which the engines compile what is used; `BENCH_PEER` as of `npm run bench`. Build the server first.
 */
const seconds = Number(process.env.OPENID_SECONDS ?? 1);
const rounds = Number(process.env.OPENID_ROUNDS ?? 5);
const connectionCounts = (process.env.OPENID_CONNECTIONS ?? "1,16").split(",").map(Number);
const warmUp = Number(process.env.OPENID_WARM_UP ?? 3);

const tasks = { signOn: "single sign-on", refresh: "refresh" } as const;
const steps = {
  authorize: "authorization request",
  exchange: "exchange of the code",
  userInfo: "UserInfo",
  refresh: "refresh",
} as const;

const keysOf = <Key extends string>(named: Record<Key, string>) => Object.keys(named) as Key[];

interface Row {
  task: string;
  connections: number;
  provider: string;
  figures: Figures;
  /** Those of Stile. */
  own: Figures;
}

/** A provider without a database has no processor time of PostgreSQL. */
const costOf = ({ cpu, postgresCpu }: Figures) => cpu + (Number.isNaN(postgresCpu) ? 0 : postgresCpu);

const columns: Columns<Row> = {
  task: ({ task }) => task,
  connections: ({ connections }) => String(connections),
  provider: ({ provider }) => provider,
  "per second": ({ figures }) => perSecond(figures.perSecond),
  "CPU ms a task + PostgreSQL's": ({ figures }) =>
    Number.isNaN(figures.postgresCpu) ? figures.cpu.toFixed(2) : costText(figures),
  "p50, p99 ms": ({ figures }) => timesText(figures),
  "Stile's rate by this": ({ figures, own }) => (own.perSecond / figures.perSecond).toFixed(2),
  "by CPU": ({ figures, own }) => (costOf(figures) / costOf(own)).toFixed(2),
};

interface StatementRow {
  provider: string;
  counts: Partial<Record<keyof typeof steps, number>>;
}

const statementColumns: Columns<StatementRow> = {
  "": ({ provider }) => provider,
  ...Object.fromEntries(
    keysOf(steps).map((step) => [steps[step], ({ counts }: StatementRow) => String(counts[step] ?? "–")]),
  ),
};

const print = (text: string) => process.stdout.write(`${text}\n`);
const on = (provider: Provider, way: OpenidWay, load: Omit<Load, "way">) =>
  perform(provider, { ...load, way: makeOpenidWays(provider)[way] });

// An exit, unlike the signal, also stops the servers.
process.once("SIGINT", () => process.exit(130));

const server = await startStile();
const stops: (() => unknown)[] = [() => server.stop()];
try {
  const database = await openDatabase(server);
  stops.push(() => database.close());
  const users = Math.max(...connectionCounts);
  const plugin = "@better-auth/oauth-provider";
  const pluginVersion = peerVersion(plugin);
  const peers = pluginVersion ? [await startPeerProvider(database, users)] : [];
  const forked = [...peers, await startBareProvider()];
  for (const { child } of forked) stops.push(() => child.disconnect());
  const stile = await stileProvider(server, database, users);
  const providers: Provider[] = [stile, ...forked];

  const counts: StatementRow[] = [];
  for (const provider of providers)
    if (provider.database !== null) counts.push(await countStatements(database, provider));

  const rows: Row[] = [];
  for (const task of keysOf(tasks))
    for (const connections of connectionCounts) {
      const figures = await measure(providers, task, connections);
      const own = figures.get(stile);
      if (!own) continue;
      for (const [{ name }, found] of figures)
        rows.push({ task: tasks[task], connections, provider: name, figures: found, own });
      const rates = [...figures].map(([{ name }, { perSecond: rate }]) => `${name} ${rate.toFixed(1)}`);
      print(`${tasks[task]}, ${connections}: ${rates.join(", ")} per second`);
    }

  const conditions = [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${database.version}`,
    new Date().toISOString().slice(0, 10),
    ...(pluginVersion ? [`better-auth ${peerVersion()} with ${plugin} ${pluginVersion}`] : []),
    `${rounds} rounds of ${seconds} s each, alternating, medians`,
  ];
  print(`\n${conditions.join("; ")}`);
  for (const part of table("Single sign-on", columns, rows)) print(`\n${part}`);
  for (const part of table("Statements of each step", statementColumns, counts)) print(`\n${part}`);
} catch (error) {
  print(server.logs().slice(-2_000));
  throw error;
} finally {
  for (const stop of stops.toReversed()) await stop();
}

/** Has connections perform a task on the providers in turns, so that they meet the same load of the machine. */
async function measure(
  providers: readonly Provider[],
  task: keyof typeof tasks,
  connections: number,
): Promise<Map<Provider, Figures>> {
  const measured = new Map(providers.map((provider) => [provider, [] as Round[]]));
  for (const provider of providers) await on(provider, task, { connections, until: { seconds: warmUp } });
  for (let turn = 0; turn < rounds; turn += 1)
    for (const [provider, found] of measured)
      found.push(await on(provider, task, { connections, until: { seconds } }));
  return new Map([...measured].map(([provider, found]) => [provider, figuresOf(found)]));
}

async function countStatements(database: BenchDatabase, provider: Provider): Promise<StatementRow> {
  const { name, database: address } = provider;
  const counts: StatementRow["counts"] = {};
  for (const step of keysOf(steps)) {
    const load = { connections: 1, until: { times: COUNTED_STEPS } };
    const counted = await database.statementsOf(
      COUNTED_STEPS,
      (prepared) => on(provider, step, { ...load, prepared }),
      address ?? undefined,
    );
    if (counted) counts[step] = counted.count;
    if (process.argv.includes("--statements"))
      for (const { times, text } of counted?.texts ?? [])
        print(`${name}, ${steps[step]}: ${times} ${text.slice(0, 160)}`);
  }
  return { provider: name, counts };
}

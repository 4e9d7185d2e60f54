import { setTimeout as pause } from "node:timers/promises";
import { getTableName } from "drizzle-orm";
import { tables } from "../db/tables.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { copyTemplate, startTestCluster, withClient } from "../server/testing/postgres-cluster.ts";
import { signUp } from "../server/testing/sign-up.ts";
import type { Findings, Place } from "./drill.ts";
import { password, signIn, startLoad } from "./load.ts";
import { openPlace } from "./place.ts";

/**
 * `npm run drills -- soak`: a server at half of the logins a second that it can do, for an hour, and whether its memory, its
 * descriptors and the rows of its tables stay as they are.
 */

/** How long it is found out what the server can do, and by how many visitors at once. */
const CAPACITY_MS = 15_000;
const CAPACITY_VISITORS = 12;

const SAMPLES = 60;

/** The first part, in which caches and pools fill up. It is not judged. */
const WARM_PART = 0.25;

/** Growth in the part that is judged: of what there was, and a little for what is few. */
const MAX_GROWTH = 0.1;
const FEW = { memory: 20e6, descriptors: 20, rows: 100 };

/**
 * Tables that keep something of each login for longer than an hour (docs/reference/tables.md). They have to grow by the same
 * number of rows a login.
 */
const kept = new Set(["audit_logs", "flows", "recorded_flows", "recorded_settings", "recorded_steps"]);

interface Sample {
  seconds: number;
  logins: number;
  memory: number;
  /** What the objects take of it. Growth of the rest alone is that of the allocator, or of memory outside of V8. */
  heap: number;
  descriptors: number;
  rows: Record<string, number>;
}

export async function soak(minutes: number, print: (line: string) => void): Promise<Findings> {
  const postgres = await startTestCluster();
  try {
    const { url: databaseUrl } = await copyTemplate(postgres.cluster);
    const place = await openPlace({
      env: { DATABASE_URL: databaseUrl, STILE_SESSION_LIMIT: "20" },
      close: async () => {},
    });
    try {
      return await soakAt(place, databaseUrl, minutes, print);
    } finally {
      await place.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function soakAt(
  { url, metric }: Place,
  databaseUrl: string,
  minutes: number,
  print: (line: string) => void,
): Promise<Findings> {
  const capacity = await capacityOf(url);
  const rate = Math.max(1, Math.round(capacity / 2));
  print(`${capacity.toFixed(1)} logins a second are possible; ${rate} a second for ${minutes} minutes`);
  // Sessions end beyond the limit of an account: they are not asked for at the end.
  const load = await startLoad(url, rate, { remembersSessions: false });
  const began = performance.now();
  const samples: Sample[] = [];
  for (let count = 1; count <= SAMPLES; count += 1) {
    await pause(began + (count * minutes * 60_000) / SAMPLES - performance.now());
    samples.push({
      seconds: (performance.now() - began) / 1_000,
      logins: load.succeeded(),
      memory: await metric("max(process_memory_usage_bytes)"),
      heap: await metric("max(sum by (process) (v8js_memory_heap_used_bytes))"),
      descriptors: await metric("max(process_unix_file_descriptor_count)"),
      rows: await rowsIn(databaseUrl),
    });
    if (count === 1 || count % (SAMPLES / 6) === 0) print(described(samples.at(-1) as Sample));
  }
  const { interrupted, failed, succeeded } = await load.end();
  const warm = samples.filter((_, index) => index >= SAMPLES * WARM_PART);
  return {
    notes: [`${succeeded} logins, ${interrupted} interrupted`],
    faults: [
      ...(failed > 0 ? [`${failed} answers of 500`] : []),
      ...grown("memory", warm.map(pointOf(({ memory }) => memory)), FEW.memory),
      ...grown("descriptors", warm.map(pointOf(({ descriptors }) => descriptors)), FEW.descriptors),
      ...Object.keys(warm[0]?.rows ?? {}).flatMap((table) => {
        const of = ({ rows }: Sample) => rows[table] ?? 0;
        return kept.has(table)
          ? faster(table, warm, of)
          : grown(`rows of ${table}`, warm.map(pointOf(of)), FEW.rows);
      }),
    ],
  };
}

/** Logins a second of visitors who sign in again at once. */
async function capacityOf(url: string): Promise<number> {
  const emails = Array.from({ length: CAPACITY_VISITORS }, (_, visitor) => `quick${visitor}@example.com`);
  for (const email of emails) await signUp(flowClient(url), { email, password });
  const until = performance.now() + CAPACITY_MS;
  let logins = 0;
  const signInAgain = async (email: string) => {
    while (performance.now() < until) {
      await signIn(url, email).then(
        () => (logins += 1),
        () => pause(100),
      );
    }
  };
  await Promise.all(emails.map(signInAgain));
  return (logins * 1_000) / CAPACITY_MS;
}

const tableNames = [...tables.map(getTableName), "pgboss.job"];

const rowsIn = (databaseUrl: string) =>
  withClient(databaseUrl, async (client) => {
    const counts = tableNames.map((name) => `select '${name}' as name, count(*)::int as rows from ${name}`);
    const { rows } = await client.query<{ name: string; rows: number }>(counts.join(" union all "));
    return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
  });

function described({ seconds, logins, memory, heap, descriptors, rows }: Sample): string {
  const filled = Object.entries(rows)
    .filter(([, count]) => count >= FEW.rows)
    .map(([name, count]) => `${name} ${count}`);
  return `after ${Math.round(seconds)} s: ${logins} logins, ${Math.round(memory / 1e6)} MB with ${Math.round(heap / 1e6)} MB of objects, ${descriptors} descriptors; rows: ${filled.join(", ")}`;
}

type Point = [seconds: number, value: number];

const pointOf =
  (value: (sample: Sample) => number) =>
  (sample: Sample): Point => [sample.seconds, value(sample)];

/** The change of a value in a second, by least squares. */
function slopeOf(points: readonly Point[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, value] = [mean(points.map(([seconds]) => seconds)), mean(points.map(([, one]) => one))];
  const up = points.reduce((sum, [seconds, one]) => sum + (seconds - at) * (one - value), 0);
  return up / points.reduce((sum, [seconds]) => sum + (seconds - at) ** 2, 0);
}

/** @returns what to say if a value grows by more than `MAX_GROWTH` and `few` from the first point to the last */
function grown(name: string, points: readonly Point[], few: number): string[] {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return [];
  const growth = slopeOf(points) * (last[0] - first[0]);
  return growth <= few + MAX_GROWTH * first[1]
    ? []
    : [`${name} grew by ${Math.round(growth)} from ${Math.round(first[1])}`];
}

/** @returns what to say if a table grows by more rows a login in the second half than in the first */
function faster(table: string, samples: readonly Sample[], rows: (sample: Sample) => number): string[] {
  const [first, middle, last] = [samples[0], samples[Math.floor(samples.length / 2)], samples.at(-1)];
  if (!first || !middle || !last) return [];
  const between = (one: Sample, other: Sample) =>
    (rows(other) - rows(one)) / Math.max(1, other.logins - one.logins);
  const [before, after] = [between(first, middle), between(middle, last)];
  return after <= before * (1 + MAX_GROWTH) + 0.1
    ? []
    : [`${table} grew by ${after.toFixed(2)} rows a login, after ${before.toFixed(2)}`];
}

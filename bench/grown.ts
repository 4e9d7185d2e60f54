import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchDatabase, openDatabase, postmasterOf } from "./database.ts";
import { type Figures, figuresOf, percentile, type Round } from "./figures.ts";
import type { ForkedServer } from "./fork-server.ts";
import { perform, type Target } from "./load.ts";
import { grownPeople, importedPeople } from "./people.ts";
import { processTree } from "./process.ts";
import { prepare, startMeasured } from "./service.ts";
import type { Setting } from "./setting.ts";
import { sizesOf } from "./sizes.ts";
import { startBare } from "./start-bare.ts";
import { JUDGED_CONNECTIONS, tasks } from "./tasks.ts";
import { makeWays } from "./ways.ts";
import { startWorld } from "./world.ts";

/**
 * `node scripts/run.js bench/grown.ts`: measures logins on databases of several sizes in turns, in one run. Prints the
 * rates of Stile and of the hand-made server by size, the times of single requests of administrators, and the sizes of
 * tables and indexes.
 *
 * `GROWN_FOLDER` (`/tmp/grown`) gets a data folder for each size, which is grown if it is missing and stays;
 * `GROWN_USERS` (`1000,1000000`) are the sizes, each from 100; `GROWN_PEOPLE` (`all`) are the accounts that sign in, or
 * `few`, the thousand of each kind that other benchmarks sign in; `GROWN_ROUNDS` (7), `GROWN_SECONDS` (2). Build the
 * server first.
 */
const base = process.env.GROWN_FOLDER ?? "/tmp/grown";
const sizes = (process.env.GROWN_USERS ?? "1000,1000000").split(",").map(Number);
const isFew = process.env.GROWN_PEOPLE === "few";
const roundCount = Number(process.env.GROWN_ROUNDS ?? 7);
const seconds = Number(process.env.GROWN_SECONDS ?? 2);
const measured = tasks.filter(
  ({ way, walk }) =>
    walk === "page" &&
    ["flowStart", "sessionCheck", "passkeyLogin", "codeLogin", "passwordLogin", "registration"].includes(way),
);

/** What a grown service holds, with what measures it. */
interface Grown {
  users: number;
  stile: Target;
  bare: Target;
  ways: ReturnType<typeof makeWays>;
  setting: Setting;
  database: BenchDatabase;
}

const print = (text: string) => process.stdout.write(`${text}\n`);
process.once("SIGINT", () => process.exit(130));

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "stile grown "));
const endings: (() => Promise<unknown> | unknown)[] = [
  () => rmSync(folder, { recursive: true, force: true }),
];
try {
  const all: Grown[] = [];
  for (const users of sizes) all.push(await open(users));
  const conditions = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${all[0]?.database.version}`;
  print(
    `${conditions}; ${roundCount} rounds of ${seconds} s each, alternating, medians at ${JUDGED_CONNECTIONS} connections\n`,
  );
  const found = await ratesOf(all);
  const names = all.map(({ users }) => String(users));
  const lines = (cell: (rates: Rates, first: Rates) => string) =>
    found.map(({ name, rates }) => [name, ...rates.map((one) => cell(one, rates[0] ?? one))]);
  printTable(
    ["a second, of hand-made, of the first size", ...names],
    lines(({ stile, bare }, first) =>
      [
        stile.perSecond.toFixed(stile.perSecond < 100 ? 1 : 0),
        (stile.perSecond / bare.perSecond).toFixed(2),
        (stile.perSecond / first.stile.perSecond).toFixed(2),
      ].join(", "),
    ),
  );
  printTable(
    ["ms of processor time, of it PostgreSQL's, of the first size; hand-made", ...names],
    lines(({ stile, bare }, first) => `${cpuText(stile, first.stile)}; ${cpuText(bare, first.bare)}`),
  );
  printTable(["ms, median of three", ...names], await readsOf(all));
  for (const { users, database } of all) print(`${users} users\n\n${await sizesOf(database.url, users)}\n`);
} finally {
  for (const end of endings.toReversed()) await end();
}

async function open(users: number): Promise<Grown> {
  const dataDir = join(base, String(users));
  mkdirSync(dataDir, { recursive: true });
  const settings = { STILE_PASSWORD_HASH_QUEUE: "1000" };
  const server = await startMeasured(world.addresses, folder, settings, { dataDir });
  endings.push(() => server.stop());
  const database = await openDatabase(server);
  endings.push(() => database.close());
  const setting = await prepare(server, database, users);
  const bare: ForkedServer = await startBare(server.url, setting, world.addresses, database.url);
  endings.push(() => bare.child.disconnect());
  return {
    users,
    stile: {
      url: server.url,
      pids: () => processTree(server.pid, { except: postmasterOf(server) }),
      postgres: database.pid,
    },
    bare: { url: bare.url, pids: () => processTree(bare.child.pid ?? 0), postgres: database.pid },
    ways: makeWays(world, setting, isFew ? importedPeople() : grownPeople(users)),
    setting,
    database,
  };
}

/** Figures of both servers on a database. */
type Rates = Record<"stile" | "bare", Figures>;

/** Measures the tasks. Every size and both servers have their turn in each round. */
async function ratesOf(all: readonly Grown[]): Promise<{ name: string; rates: Rates[] }[]> {
  const found: { name: string; rates: Rates[] }[] = [];
  for (const { name, walk, way } of measured) {
    const rounds = all.map((): Record<keyof Rates, Round[]> => ({ stile: [], bare: [] }));
    // The first round is the warm-up.
    for (let round = 0; round <= roundCount; round += 1) {
      for (const [index, one] of all.entries()) {
        for (const server of ["bare", "stile"] as const) {
          const own = { way: one.ways[walk][way], home: one.stile.url };
          const load = { ...own, connections: JUDGED_CONNECTIONS, until: { seconds } };
          const done = await perform(one[server], load);
          if (round > 0) rounds[index]?.[server].push(done);
        }
      }
    }
    const rates = rounds.map(({ stile, bare }) => ({ stile: figuresOf(stile), bare: figuresOf(bare) }));
    found.push({ name, rates });
    process.stderr.write(`${name}: ${rates.map(({ stile }) => stile.perSecond.toFixed(1)).join(", ")}\n`);
  }
  return found;
}

function cpuText({ cpu, postgresCpu }: Figures, first: Figures): string {
  const share = (cpu + postgresCpu) / (first.cpu + first.postgresCpu);
  return `${(cpu + postgresCpu).toFixed(2)}, ${postgresCpu.toFixed(2)}, ${share.toFixed(2)}`;
}

/** Lines of the table of single requests of administrators. */
async function readsOf(all: readonly Grown[]): Promise<string[][]> {
  const lines = new Map<string, string[]>();
  for (const { users, stile, setting } of all) {
    const headers = { authorization: `Bearer ${setting.keys.admin}` };
    for (const [name, path] of Object.entries(readsIn(users))) {
      const times: number[] = [];
      let failed = "";
      for (let time = 0; time < 3; time += 1) {
        const from = performance.now();
        const answer = await fetch(`${stile.url}/admin/${path}`, { headers });
        await answer.arrayBuffer();
        times.push(performance.now() - from);
        if (!answer.ok) failed = ` (${answer.status})`;
      }
      lines.set(name, [...(lines.get(name) ?? []), percentile(times, 0.5).toFixed(0) + failed]);
    }
  }
  return [...lines].map(([name, found]) => [name, ...found]);
}

/** What administrators ask for, by what it is. Pages have 20 items. */
function readsIn(users: number): Record<string, string> {
  return {
    "users, first page": "users",
    "users, page in the middle": `users?page=${Math.ceil(users / 40)}`,
    "users by a part of an email that one has": `users?email=person${users}@`,
    "users by a part of an email that all have": "users?email=@example",
    "users by a part of a username": `users?username=person_${Math.ceil(users / 4)}`,
    "audit log, first page": "audit_logs",
    "audit log, page in the middle": `audit_logs?page=${Math.ceil(Math.min(10_000_000, users * 20) / 40)}`,
    "audit log by type": "audit_logs?type=login_failure",
    "audit log by IP address": "audit_logs?meta_source_ip=203.0.7.7",
    "audit log by a part of an email": `audit_logs?actor_email=person${users}@`,
    statistics: "statistics",
  };
}

function printTable(head: readonly string[], lines: readonly (readonly string[])[]): void {
  const rule = head.map((_, index) => (index === 0 ? "---" : "--:"));
  print([head, rule, ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n"));
  print("");
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { configSchema } from "../server/config/schema.ts";
import { openDatabase, postmasterOf } from "./database.ts";
import { type Figures, figuresOf, type Round } from "./figures.ts";
import { type Load, perform, type Target } from "./load.ts";
import { processTree, residentMemory } from "./process.ts";
import { type Columns, costText, perSecond, table, timesText } from "./report.ts";
import { populate, startMeasured } from "./service.ts";
import { keycloakLogin, startKeycloak } from "./start-keycloak.ts";
import { JUDGED_CONNECTIONS } from "./tasks.ts";
import { makeWays, type Way } from "./ways.ts";
import { startWorld } from "./world.ts";

/**
 * `node scripts/run.js bench/keycloak.ts <folder>`: measures password logins of Stile and of Keycloak in turns, on one
 * PostgreSQL, and prints the table of `docs/performance.md`. The folder is an unpacked distribution of Keycloak, built
 * with `bin/kc.sh build --db=postgres`; `bench/README.md` says how to get it.
 *
 * `KEYCLOAK_ROUNDS` (5) of `KEYCLOAK_SECONDS` (5) for each server, after `KEYCLOAK_WARM_UP` (60) seconds in which the
 * engines compile what is used.
 */
const distribution = process.argv[2] ?? "";
const rounds = Number(process.env.KEYCLOAK_ROUNDS ?? 5);
const seconds = Number(process.env.KEYCLOAK_SECONDS ?? 5);
const warmUp = Number(process.env.KEYCLOAK_WARM_UP ?? 60);
/** Logins of the pass that counts statements. */
const COUNTED_LOGINS = 10;

interface Contestant extends Target {
  name: string;
  /** How many a login takes, and what they are. */
  requests: string;
  way: Way;
  /** Address of its database. */
  database: string;
}

interface Row {
  name: string;
  requests: string;
  figures: Figures;
  statements: number | undefined;
  memory: number;
}

const columns: Columns<Row> = {
  [`password login, ${JUDGED_CONNECTIONS} connections`]: ({ name }) => name,
  requests: ({ requests }) => requests,
  "per second": ({ figures }) => perSecond(figures.perSecond),
  "CPU ms a login + PostgreSQL's": ({ figures }) => costText(figures),
  "p50, p99 ms": ({ figures }) => timesText(figures),
  statements: ({ statements }) => String(statements ?? "–"),
  "resident MiB": ({ memory }) => memory.toFixed(0),
  generator: ({ figures }) => `${(figures.generator * 100).toFixed(0)} %`,
};

const print = (text: string) => process.stdout.write(`${text}\n`);

// An exit, unlike the signal, also stops the servers.
process.once("SIGINT", () => process.exit(130));

const version = /Version (\S+)/.exec(readFileSync(join(distribution, "version.txt"), "utf8"))?.[1];
const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "stile keycloak "));
const server = await startMeasured(world.addresses, folder, {});
const stops: (() => Promise<unknown>)[] = [() => server.stop()];
try {
  const database = await openDatabase(server);
  stops.push(() => database.close());
  const setting = await populate(server);
  const { page, passwordLogin } = makeWays(world, setting).page;
  const own = {
    url: server.url,
    pids: () => processTree(server.pid, { except: postmasterOf(server) }),
    postgres: database.pid,
    database: database.url,
  };
  const { memory, passes } = configSchema.shape.password.parse({}).hash;
  const steps = "address, choice of the password, password";
  const contestants: Contestant[] = [
    { ...own, name: "Stile, as our page", requests: `3: ${steps}`, way: passwordLogin },
    {
      ...own,
      name: "Stile, with its page",
      requests: `4: page, ${steps}`,
      way: afterPage(page, passwordLogin),
    },
  ];
  const work = [`memory=${memory}`, `iterations=${passes}`];
  for (const [name, parameters] of [
    ["Keycloak, its default hash", []],
    ["Keycloak, Stile's hash", work.map((one) => `--spi-password-hashing--argon2--${one}`)],
  ] as const) {
    const beside = await database.createBeside(`bench_keycloak_${contestants.length}`);
    const log = join(folder, "keycloak.log");
    const { stop, ...target } = await startKeycloak(
      { folder: distribution, log },
      beside,
      setting,
      parameters,
    );
    stops.push(stop);
    const requests = "3: page, address with password, code for tokens";
    const way = keycloakLogin(setting);
    contestants.push({ ...target, name, requests, postgres: database.pid, way, database: beside });
    print(`${name}: ready`);
  }

  const on = (one: Contestant, load: Omit<Load, "way" | "connections">, connections = JUDGED_CONNECTIONS) =>
    perform(one, { ...load, way: one.way, home: server.url, connections });
  for (const one of contestants) await on(one, { until: { seconds: warmUp } });
  const found = new Map(contestants.map((one) => [one, [] as Round[]]));
  for (let round = 0; round < rounds; round += 1)
    for (const [one, measured] of found) measured.push(await on(one, { until: { seconds } }));
  const rows: Row[] = [];
  for (const [one, measured] of found) {
    const resident = residentMemory(one.pids());
    const counted = await database.statementsOf(
      COUNTED_LOGINS,
      (prepared) => on(one, { until: { times: COUNTED_LOGINS }, prepared }, 1),
      one.database,
    );
    const { name, requests } = one;
    const figures = figuresOf(measured);
    rows.push({ name, requests, figures, statements: counted?.count, memory: resident });
  }
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${database.version}`;
  const turns = `${rounds} rounds of ${seconds} s each, alternating, medians, after ${warmUp} s of warm-up each`;
  print(`\n${machine}, ${date}; Keycloak ${version}; ${turns}\n`);
  print(table("", columns, rows)[1] ?? "");
} catch (error) {
  print(server.logs().slice(-2_000));
  throw error;
} finally {
  for (const stop of stops.toReversed()) await stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A login whose browser asks for the page first, as it does where the page is not in its cache. */
function afterPage(page: Way, login: Way): Way {
  return async (visit, home, connection) => {
    const [askForPage, signIn] = [await page(visit, home, connection), await login(visit, home, connection)];
    return async () => {
      visit.forget();
      await askForPage();
      await signIn();
    };
  };
}

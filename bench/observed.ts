import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer } from "../server/testing/server.ts";
import { openDatabase, postmasterOf } from "./database.ts";
import { percentile, type Round } from "./figures.ts";
import { perform } from "./load.ts";
import { importedPeople } from "./people.ts";
import { processTree } from "./process.ts";
import { prepare, startMeasured } from "./service.ts";
import { makeWays } from "./ways.ts";
import { startWorld } from "./world.ts";

/**
 * `node scripts/run.js bench/observed.ts`: what traces cost. A server that sends the traces of every request and one that
 * sends none, on one database, have connections sign in by passkey, in turns. Prints the processor time of a login, of the
 * server and PostgreSQL together, and by how much that of the traced server is greater: the median of the turns, and their
 * quartiles.
 *
 * `OBSERVED_TURNS` (15), `OBSERVED_LOGINS` (60, by each of 16 connections), `OBSERVED_WARM_UP` (as many turns as are not
 * counted, 3). Build the server first.
 */
const numberOf = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const turns = numberOf("OBSERVED_TURNS", 15);
const times = numberOf("OBSERVED_LOGINS", 60);
const warmUp = numberOf("OBSERVED_WARM_UP", 3);
const CONNECTIONS = 16;

const print = (text: string) => process.stdout.write(`${text}\n`);
// An exit, unlike the signal, also stops the servers.
process.once("SIGINT", () => process.exit(130));

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "stile observed "));
const servers: RunningServer[] = [];
const start = async (settings: Record<string, string>) => {
  const server = await startMeasured(world.addresses, folder, settings);
  servers.push(server);
  return server;
};
try {
  // It has the database and does the jobs beside the measured ones, which are alike but for the traces.
  const owner = await start({});
  const database = await openDatabase(owner);
  try {
    const setting = await prepare(owner, database, 0);
    const ways = makeWays(world, setting, importedPeople());
    const common = {
      DATABASE_URL: database.url,
      BASE_URL: owner.url,
      SECRET_KEYS: owner.environment.SECRET_KEYS ?? "",
    };
    const plain = await start(common);
    const traced = await start({
      ...common,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${world.addresses.telemetry}/v1/traces`,
    });
    const postgres = postmasterOf(owner);
    const measure = async (server: RunningServer): Promise<number> => {
      const target = { url: server.url, pids: () => processTree(server.pid), postgres };
      const way = ways.page.passkeyLogin;
      if (!way) throw new Error("there is no login by passkey");
      const round: Round = await perform(target, {
        way,
        connections: CONNECTIONS,
        until: { times },
        home: owner.url,
      });
      return (round.cpuMs + (postgres === null ? 0 : round.postgresCpuMs)) / round.done;
    };
    const more: number[] = [];
    const costs: [plain: number, traced: number][] = [];
    for (let turn = -warmUp; turn < turns; turn += 1) {
      // Each of them begins every other turn: what the first one leaves to do is done in the time of the second.
      const isFirst = turn % 2 === 0;
      const before = isFirst ? null : await measure(traced);
      const one = await measure(plain);
      const other = before ?? (await measure(traced));
      if (turn < 0) continue;
      costs.push([one, other]);
      more.push((other / one - 1) * 100);
      print(`${one.toFixed(3)} ms, traced ${other.toFixed(3)} ms: ${more.at(-1)?.toFixed(1)} % more`);
    }
    const quartiles = [0.25, 0.5, 0.75].map((share) => percentile(more, share).toFixed(1));
    const medians = [0, 1].map((index) =>
      percentile(
        costs.map((pair) => pair[index] ?? 0),
        0.5,
      ).toFixed(3),
    );
    print(
      `\n${medians[0]} ms, traced ${medians[1]} ms a login; ${quartiles[1]} % more (quartiles ${quartiles[0]} and ${quartiles[2]})`,
    );
  } finally {
    await database.close();
  }
} finally {
  for (const server of servers.toReversed()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

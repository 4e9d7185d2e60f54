import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startParameters } from "../scripts/start-parameters.ts";
import { freePort } from "../server/testing/free-port.ts";
import type { Under } from "../server/testing/server.ts";
import { postmasterOf } from "./database.ts";
import { figuresOf, percentile, type Round } from "./figures.ts";
import { perform, type Target } from "./load.ts";
import { processTree } from "./process.ts";
import { printProfile, profilable } from "./profile.ts";
import { populate, startMeasured } from "./service.ts";
import { makeWays, type Way } from "./ways.ts";
import { startWorld } from "./world.ts";

/**
 * `node scripts/run.js bench/under-next.ts`: what requests and whole logins cost under Next, beside `npm start` and
 * beside a route handler of Next that does nothing (`bench/bare-next`), in turns in one run. Prints two tables: of
 * requests, the rate and the processor time of the server's process; of logins as our page does them, also the processor
 * time of PostgreSQL and the ratio of the rates. Figures are medians of the rounds, processor times means over them.
 *
 * `NEXT_CONNECTIONS` (16), `NEXT_SECONDS` (2) of a round, `NEXT_ROUNDS` (7), `NEXT_ONLY` (all): names of what is measured,
 * separated by commas, such as `flowStart,passkeyLogin`. `--profile` also prints what the time under Next goes into. Build
 * first: `npm run build`.
 */
const connections = Number(process.env.NEXT_CONNECTIONS ?? 16);
const seconds = Number(process.env.NEXT_SECONDS ?? 2);
const rounds = Number(process.env.NEXT_ROUNDS ?? 7);
const only = process.env.NEXT_ONLY?.split(",");
const profiles = process.argv.includes("--profile");

const WARM_UP_SECONDS = 4;

const root = join(import.meta.dirname, "..");
const next = join(root, "node_modules/next/dist/bin/next");

const requests = [
  ["`POST /login`", "flowStart"],
  ["`GET /health/alive`", "answer"],
] as const;

const logins = [
  ["passkey", "passkeyLogin"],
  ["mailed code", "codeLogin"],
  ["password", "passwordLogin"],
] as const;

const titles = { stile: ", `npm start`", next: ", under Next", bare: "" } as const;

interface Measured {
  name: string;
  under: Under | "bare";
  target: Target;
  way: Way;
  results: Round[];
}

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "stile under next "));
const bare = await startBareNext();
const stile = await startMeasured(world.addresses, folder, {});
const underNext = await startMeasured(world.addresses, folder, profiles ? profilable : {}, { under: "next" });
try {
  const servers = await Promise.all(
    ([stile, underNext] as const).map(async (server) => {
      const postgres = postmasterOf(server);
      const pids = () => processTree(server.pid, { except: postgres });
      const target: Target = { url: server.url, pids, postgres };
      return { target, ways: makeWays(world, await populate(server)).page };
    }),
  );
  const measured = (tasks: typeof requests | typeof logins): Measured[] =>
    tasks
      .filter(([, way]) => only?.includes(way) ?? true)
      .flatMap(([name, way]) =>
        servers.map(({ target, ways }, index) => ({
          name,
          under: index === 0 ? "stile" : "next",
          target,
          way: ways[way],
          results: [],
        })),
      );
  const alone: Measured = {
    name: "a constant, Next alone",
    under: "bare",
    target: { url: bare.url, pids: () => [bare.pid], postgres: null },
    // It answers every address.
    way: async (visit) => () => visit.call("GET", "/health/alive"),
    results: [],
  };
  const tables = { requests: [...measured(requests), alone], logins: measured(logins) };
  const all = [...tables.requests, ...tables.logins];
  const load = ({ target, way }: Measured, forSeconds: number) =>
    perform(target, { way, connections, until: { seconds: forSeconds } });
  for (const one of all) await load(one, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1)
    for (const one of all) one.results.push(await load(one, seconds));

  print(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${connections} connections`,
  );
  print("\n| | per second | ms of processor time | least and most |\n|---|--:|--:|--:|");
  for (const { name, under, results } of tables.requests) {
    const times = results.map(({ cpuMs, done }) => cpuMs / done);
    const [least, median, most] = [0, 0.5, 1].map((share) => percentile(times, share).toFixed(2));
    print(`| ${name}${titles[under]} | ${rateOf(results).toFixed(0)} | ${median} | ${least}, ${most} |`);
  }
  print(
    "\n| login | per second | ms of the server | ms of PostgreSQL | of `npm start` | by processor time |",
  );
  print("|---|--:|--:|--:|--:|--:|");
  for (const { name, under, results } of tables.logins) {
    const { cpu, postgresCpu } = figuresOf(results);
    const asStile = tables.logins.find((one) => one.name === name && one.under === "stile");
    const beside = figuresOf(asStile?.results ?? []);
    const ratios = results.map(
      (round, index) => rateOf([round]) / rateOf([asStile?.results[index] ?? round]),
    );
    const byCpu = (beside.cpu + beside.postgresCpu) / (cpu + postgresCpu);
    const compared = under === "next" ? [percentile(ratios, 0.5).toFixed(2), byCpu.toFixed(2)] : ["", ""];
    const figures = [rateOf(results).toFixed(0), cpu.toFixed(2), postgresCpu.toFixed(2), ...compared];
    print(`| ${name}${titles[under]} | ${figures.join(" | ")} |`);
  }

  for (const one of profiles ? all.filter(({ under }) => under === "next") : [])
    await printProfile(one.name, underNext.logs(), [underNext.pid], () => load(one, 5));
} finally {
  bare.child.kill();
  await underNext.stop();
  await stile.stop();
  rmSync(folder, { recursive: true, force: true });
}
/** Median of finished tasks a second. */
function rateOf(results: readonly Round[]): number {
  return figuresOf(results).perSecond;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Builds the application whose handler does nothing, and starts it with the options of `npm run start:next`. */
async function startBareNext(): Promise<{ url: string; pid: number; child: ChildProcess }> {
  const cwd = join(import.meta.dirname, "bare-next");
  const env = { ...process.env, NODE_ENV: "production" as const, NEXT_TELEMETRY_DISABLED: "1" };
  execFileSync(process.execPath, [next, "build"], { cwd, env, stdio: "ignore" });
  const port = await freePort();
  const child = spawn(process.execPath, [...startParameters.next, "--port", String(port)], { cwd, env });
  const url = `http://localhost:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error("the bare application did not start");
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return { url, pid: child.pid ?? 0, child };
    await Promise.race([once(child, "exit"), new Promise((resolve) => setTimeout(resolve, 50))]);
  }
}

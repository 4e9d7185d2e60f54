import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { join } from "node:path";
import { startParameters } from "../scripts/start-parameters.ts";
import { freePort, startServer } from "../server/testing/server.ts";
import { percentile, type Round } from "./figures.ts";
import { perform, type Target } from "./load.ts";
import { printProfile, profilable } from "./profile.ts";
import type { Way } from "./ways.ts";

/**
 * `node scripts/run.js bench/under-next.ts`: what a request costs under Next, beside `npm start` and beside a route
 * handler of Next that does nothing (`bench/bare-next`), in turns in one run. Prints for each the requests a second, and
 * the processor time of its process for one, without PostgreSQL's; medians of the rounds, and the range.
 *
 * `NEXT_CONNECTIONS` (16), `NEXT_SECONDS` (2) of a round, `NEXT_ROUNDS` (7). `--profile` also prints what the time under
 * Next goes into. Build first: `npm run build`.
 */
const connections = Number(process.env.NEXT_CONNECTIONS ?? 16);
const seconds = Number(process.env.NEXT_SECONDS ?? 2);
const rounds = Number(process.env.NEXT_ROUNDS ?? 7);
const profiles = process.argv.includes("--profile");

const WARM_UP_SECONDS = 4;

const root = join(import.meta.dirname, "..");
const next = join(root, "node_modules/next/dist/bin/next");

/** What is asked of the servers. The application that does nothing answers every address. */
const flowStart: Way = async (visit) => () => {
  visit.forget();
  return visit.begin("login");
};
const answer: Way = async (visit) => () => visit.call("GET", "/health/alive");

const settings = {
  NODE_ENV: "production",
  STILE_RATE_LIMITER_ENABLED: "false",
  // Nothing is sent.
  SMTP_URL: "smtp://127.0.0.1:1",
};
const stile = await startServer({ env: settings });
const underNext = await startServer({ under: "next", env: { ...settings, ...(profiles ? profilable : {}) } });
const bare = await startBareNext();
try {
  const [asStile, asNext, alone] = [stile, underNext, bare].map(
    ({ url, pid }): Target => ({ url, pids: () => [pid], postgres: null }),
  ) as [Target, Target, Target];
  const measured = [
    { name: "`POST /login`, npm start", target: asStile, way: flowStart },
    { name: "`POST /login`, under Next", target: asNext, way: flowStart },
    { name: "`GET /health/alive`, npm start", target: asStile, way: answer },
    { name: "`GET /health/alive`, under Next", target: asNext, way: answer },
    { name: "a route handler of Next alone", target: alone, way: flowStart },
  ].map((one) => ({ ...one, results: [] as Round[] }));
  const load = (target: Target, way: Way, forSeconds: number) =>
    perform(target, { way, connections, until: { seconds: forSeconds } });
  for (const { target, way } of measured) await load(target, way, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1)
    for (const { target, way, results } of measured) results.push(await load(target, way, seconds));

  print(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${connections} connections`,
  );
  print("| | per second | ms of processor time | least and most |");
  print("|---|--:|--:|--:|");
  for (const { name, results } of measured) {
    const rates = results.map(({ done, elapsedMs }) => (done / elapsedMs) * 1_000);
    const times = results.map(({ cpuMs, done }) => cpuMs / done);
    const [least, median, most] = [0, 0.5, 1].map((share) => percentile(times, share).toFixed(2));
    print(`| ${name} | ${percentile(rates, 0.5).toFixed(0)} | ${median} | ${least}, ${most} |`);
  }

  for (const { name, target, way } of profiles ? measured.filter(({ target }) => target === asNext) : [])
    await printProfile(name, underNext.logs(), target.pids(), () => load(target, way, 5));
} finally {
  bare.child.kill();
  await underNext.stop();
  await stile.stop();
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

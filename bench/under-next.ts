import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { join } from "node:path";
import { startParameters } from "../scripts/start-parameters.ts";
import { freePort, startServer } from "../server/testing/server.ts";
import { type Connection, openConnection } from "./connection.ts";
import { percentile } from "./figures.ts";
import { cpuTime } from "./process.ts";
import { profilable, profileOf } from "./profile.ts";

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

interface Target {
  name: string;
  method: string;
  path: string;
  url: string;
  pid: number;
}

/** Of one round. */
interface Round {
  perSecond: number;
  cpuMs: number;
}

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
  const targets: Target[] = [
    ["POST", "/login"],
    ["GET", "/health/alive"],
  ].flatMap(([method = "", path = ""]) => [
    { name: "npm start", method, path, url: stile.url, pid: stile.pid },
    { name: "under Next", method, path, url: underNext.url, pid: underNext.pid },
  ]);
  targets.push({ name: "a route handler of Next alone", method: "POST", path: "/", ...bare });

  const measured = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  for (const target of targets) await load(target, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1)
    for (const [target, results] of measured) results.push(await load(target, seconds));

  print(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${connections} connections`,
  );
  print("| | per second | ms of processor time | least and most |");
  print("|---|--:|--:|--:|");
  for (const [{ name, method, path }, results] of measured) {
    const times = results.map(({ cpuMs }) => cpuMs).toSorted((one, other) => one - other);
    const range = `${times[0]?.toFixed(2)}, ${times.at(-1)?.toFixed(2)}`;
    const perSecond = percentile(
      results.map((result) => result.perSecond),
      0.5,
    ).toFixed(0);
    print(
      `| \`${method} ${path}\`, ${name} | ${perSecond} | ${percentile(times, 0.5).toFixed(2)} | ${range} |`,
    );
  }

  for (const target of profiles ? targets.filter(({ pid }) => pid === underNext.pid) : []) {
    print(`profile of ${target.method} ${target.path} under Next:`);
    for (const { what, share } of await profileOf(underNext.logs(), [target.pid], () => load(target, 5)))
      print(`  ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
  }
} finally {
  bare.child.kill();
  await underNext.stop();
  await stile.stop();
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Sends requests over kept-alive connections, one at a time each. */
async function load({ url, pid, method, path }: Target, forSeconds: number): Promise<Round> {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(url)));
  let done = 0;
  const before = cpuTime([pid]);
  const from = performance.now();
  const until = from + forSeconds * 1_000;
  const ask = async (connection: Connection) => {
    while (performance.now() < until) {
      const { status, body } = await connection.send(method, path);
      if (status !== 200) throw new Error(`${method} ${url}${path}: ${status} ${body.slice(0, 200)}`);
      done += 1;
    }
  };
  await Promise.all(opened.map(ask));
  const elapsedMs = performance.now() - from;
  const cpuMs = (cpuTime([pid]) - before) / done;
  for (const connection of opened) connection.close();
  return { perSecond: (done / elapsedMs) * 1_000, cpuMs };
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

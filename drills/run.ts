import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runWithSmallDisk } from "../server/testing/small-disk.ts";
import type { Drill, Findings } from "./drill.ts";
import { drills } from "./drills.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { openPlace } from "./place.ts";
import { soak } from "./soak.ts";

/**
 * `npm run drills`: harms a server while visitors sign in, one way after the other, and prints what was lost and for how
 * long answers were missing. Names of drills as arguments choose some, and `--rate` fewer logins a second than 20 on a
 * machine that is small or busy. `npm run drills -- soak --minutes 60` is the
 * endurance run, which is done only when it is named. docs/operating/drills.md tells how to read both.
 */

/** Seconds before the harm and after it. */
const BEFORE_S = 6;
const AFTER_S = 12;

interface Row extends LoadResult {
  done: string;
  alerts: string[];
  notes: string[];
  faults: string[];
}

/** @param rate logins a second */
async function perform(drill: Drill, rate: number): Promise<Row> {
  const around = await drill.surround();
  try {
    const place = await openPlace(around);
    try {
      const load = await startLoad(place.url, rate);
      await pause(BEFORE_S * 1_000);
      const found = (await drill.harm(place.server, around, place, load).catch(asFault)) ?? {};
      await pause(AFTER_S * 1_000);
      const result = await load.end();
      const reviewed = (await drill.review?.(result, around)) ?? {};
      const alerts = await place.alerts();
      return {
        done: drill.done,
        ...result,
        alerts,
        notes: [...(found.notes ?? []), ...(reviewed.notes ?? [])],
        faults: [
          ...(found.faults ?? []),
          ...(reviewed.faults ?? []),
          ...faultsOf(drill, result, alerts, place.logs()),
        ],
      };
    } finally {
      await place.close();
    }
  } finally {
    await around.close();
  }
}

/** A drill that could not be done is a fault, and keeps no other one from being done. */
const asFault = (error: Error): Findings => ({ faults: [error.message] });

function faultsOf(
  { alert, silent, log, mayMissMs, mayInterrupt = Number.POSITIVE_INFINITY }: Drill,
  { lost, failed, interrupted, succeeded, longestGapMs }: LoadResult,
  alerts: readonly string[],
  logs: string,
): string[] {
  return [
    ...(lost > 0 ? [`${lost} sessions are lost`] : []),
    ...(failed > 0 ? [`${failed} answers of 500`] : []),
    ...(interrupted > mayInterrupt ? [`${interrupted} logins were interrupted`] : []),
    ...(succeeded === 0 ? ["no login succeeded"] : []),
    ...(longestGapMs > mayMissMs ? [`answers were missing for ${longestGapMs} ms`] : []),
    ...(log === undefined || log.test(logs) ? [] : [`the log does not say ${log.source}`]),
    ...(alert === undefined || alerts.includes(alert) ? [] : [`the alert ${alert} did not fire`]),
    ...(silent !== undefined && alerts.includes(silent) ? [`the alert ${silent} fired`] : []),
  ];
}

const { positionals: chosen, values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "20" },
  },
});
const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
const known = [...Object.keys(drills), "soak"];
const unknown = chosen.filter((name) => !known.includes(name));
if (unknown.length > 0 || !(minutes > 0 && rate > 0)) {
  process.stderr.write(
    unknown.length > 0
      ? `there is no drill ${unknown.join(", ")}: ${known.join(", ")}\n`
      : "--minutes and --rate must be numbers above 0\n",
  );
  process.exit(2);
}
const endedThere = runWithSmallDisk();
if (endedThere !== null) process.exit(endedThere);

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** Prints what a drill found. */
function report({ notes = [], faults = [] }: Findings): void {
  for (const note of notes) print(`  ${note}`);
  for (const fault of faults) print(`  FAULT: ${fault}`);
  if (faults.length === 0) print("  ok");
}

const rows: Row[] = [];
let isFaulty = false;
for (const [name, drill] of Object.entries(drills)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  print(`${name}: ${drill.done}`);
  const obstacle = drill.obstacle?.() ?? null;
  if (obstacle !== null) {
    print(`  skipped: ${obstacle}`);
    continue;
  }
  const row = await perform(drill, rate);
  rows.push(row);
  isFaulty ||= row.faults.length > 0;
  const met = row.interruptions.length > 0 ? [`interrupted logins met: ${row.interruptions.join(", ")}`] : [];
  report({ notes: [...row.notes, ...met], faults: row.faults });
}
if (rows.length > 0) {
  print("");
  print("| Drill | Logins | interrupted | lost | without a login | alerts |");
  print("|---|--:|--:|--:|--:|---|");
  for (const row of rows)
    print(
      `| ${row.done} | ${row.succeeded} | ${row.interrupted} | ${row.lost} | ${(row.longestGapMs / 1_000).toFixed(1)} s | ${row.alerts.join(", ") || "–"} |`,
    );
}
if (chosen.includes("soak")) {
  print(`soak: half of the logins that the server can do, for ${minutes} minutes`);
  const found = await soak(minutes, (line) => print(`  ${line}`));
  isFaulty ||= (found.faults ?? []).length > 0;
  report(found);
}
process.exit(isFaulty ? 1 : 0);

import { setTimeout as pause } from "node:timers/promises";
import type { Drill } from "./drill.ts";
import { drills } from "./drills.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { openPlace } from "./place.ts";
import { runWithSmallDisk } from "./small-disk.ts";

/**
 * `npm run drills`: harms a server while visitors sign in, one way after the other, and prints what was lost and for how
 * long answers were missing. Names of drills as arguments choose some. docs/operating/drills.md tells how to read it.
 */

/** Logins a second. */
const RATE = 20;

/** Seconds before the harm and after it. */
const BEFORE_S = 6;
const AFTER_S = 12;

interface Row extends LoadResult {
  done: string;
  alerts: string[];
  notes: string[];
  faults: string[];
}

async function perform(drill: Drill): Promise<Row> {
  const around = await drill.surround();
  try {
    const place = await openPlace(around);
    try {
      const load = await startLoad(place.url, RATE);
      await pause(BEFORE_S * 1_000);
      const { notes = [], faults = [] } = (await drill.harm(place.server, around, place)) ?? {};
      await pause(AFTER_S * 1_000);
      const result = await load.end();
      const alerts = await place.alerts();
      return {
        done: drill.done,
        ...result,
        alerts,
        notes,
        faults: [...faults, ...faultsOf(drill, result, alerts, place.logs())],
      };
    } finally {
      await place.close();
    }
  } finally {
    await around.close();
  }
}

function faultsOf(
  { alert, log, mayMissMs, mayInterrupt = Number.POSITIVE_INFINITY }: Drill,
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
  ];
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(drills, name));
if (unknown.length > 0) {
  process.stderr.write(`there is no drill ${unknown.join(", ")}: ${Object.keys(drills).join(", ")}\n`);
  process.exit(2);
}
const endedThere = runWithSmallDisk();
if (endedThere !== null) process.exit(endedThere);

const rows: Row[] = [];
for (const [name, drill] of Object.entries(drills)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stdout.write(`${name}: ${drill.done}\n`);
  const obstacle = drill.obstacle?.() ?? null;
  if (obstacle !== null) {
    process.stdout.write(`  skipped: ${obstacle}\n`);
    continue;
  }
  const row = await perform(drill);
  rows.push(row);
  const met = row.interruptions.length > 0 ? [`interrupted logins met: ${row.interruptions.join(", ")}`] : [];
  for (const note of [...row.notes, ...met]) process.stdout.write(`  ${note}\n`);
  process.stdout.write(row.faults.length === 0 ? "  ok\n" : `  FAULT: ${row.faults.join("\n  FAULT: ")}\n`);
}
process.stdout.write(
  [
    "",
    "| Drill | Logins | interrupted | lost | without a login | alerts |",
    "|---|--:|--:|--:|--:|---|",
    ...rows.map(
      (row) =>
        `| ${row.done} | ${row.succeeded} | ${row.interrupted} | ${row.lost} | ${(row.longestGapMs / 1_000).toFixed(1)} s | ${row.alerts.join(", ") || "–"} |`,
    ),
    "",
  ].join("\n"),
);
process.exit(rows.some(({ faults }) => faults.length > 0) ? 1 : 0);

import { setTimeout as pause } from "node:timers/promises";
import type { Drill } from "./drill.ts";
import { drills } from "./drills.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { openPlace } from "./place.ts";

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
  name: string;
  done: string;
  alerts: string[];
  faults: string[];
}

async function perform(name: string, drill: Drill): Promise<Row> {
  const around = await drill.surround();
  const place = await openPlace(around.env);
  try {
    const load = await startLoad(place.server.url, RATE);
    await pause(BEFORE_S * 1_000);
    await drill.harm(place.server, around);
    await pause(AFTER_S * 1_000);
    const result = await load.end();
    const alerts = await place.alerts();
    return {
      name,
      done: drill.done,
      ...result,
      alerts,
      faults: faultsOf(drill, result, alerts, place.server.logs()),
    };
  } finally {
    await place.close();
    await around.close();
  }
}

function faultsOf(
  { alert, log, mayMissMs }: Drill,
  { lost, failed, succeeded, longestGapMs }: LoadResult,
  alerts: readonly string[],
  logs: string,
): string[] {
  return [
    ...(lost > 0 ? [`${lost} sessions are lost`] : []),
    ...(failed > 0 ? [`${failed} answers of 500`] : []),
    ...(succeeded === 0 ? ["no login succeeded"] : []),
    ...(longestGapMs > mayMissMs ? [`answers were missing for ${longestGapMs} ms`] : []),
    ...(log.test(logs) ? [] : [`the log does not say ${log.source}`]),
    ...(alert === undefined || alerts.includes(alert) ? [] : [`the alert ${alert} did not fire`]),
  ];
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(drills, name));
if (unknown.length > 0) {
  process.stderr.write(`there is no drill ${unknown.join(", ")}: ${Object.keys(drills).join(", ")}\n`);
  process.exit(2);
}
const rows: Row[] = [];
for (const [name, drill] of Object.entries(drills)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stdout.write(`${name}: ${drill.done}\n`);
  const row = await perform(name, drill);
  rows.push(row);
  process.stdout.write(row.faults.length === 0 ? "  ok\n" : `  ${row.faults.join("\n  ")}\n`);
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

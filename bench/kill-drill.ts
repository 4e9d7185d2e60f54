import { runKillDrill } from "../server/testing/kill-drill.ts";

/**
 * Kills the built server with SIGKILL while users sign in, 200 times or as often as the argument says, and reports
 * whether each committed event arrived and no other: `node scripts/run.js bench/kill-drill.ts 200`.
 */

const kills = Number(process.argv[2] ?? 200);
const startedAt = performance.now();
const result = await runKillDrill(kills, (kill) => {
  if (kill % 10 === 0) process.stdout.write(`${kill} kills\n`);
});
const seconds = Math.round((performance.now() - startedAt) / 1000);
process.stdout.write(`${JSON.stringify({ ...result, seconds }, null, 2)}\n`);
const consistent = result.logins.recorded === result.logins.emitted;
if (result.lost.length > 0 || result.invented.length > 0 || !consistent) process.exitCode = 1;

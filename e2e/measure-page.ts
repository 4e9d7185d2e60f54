import { chromium } from "@playwright/test";
import config from "../playwright.config.ts";
import { startServer } from "../server/testing/server.ts";
import { type PageTimes, timePage, weighPage } from "./page-measurement.ts";

/** `npm run measure:page`: size of the hosted page, and its times on a slow phone, as docs/performance.md shows them. */
const RUNS = 5;

const server = await startServer({ env: { STILE_RATE_LIMITER_ENABLED: "false" } });
const browser = await chromium.launch(config.use?.launchOptions ?? {});

/** Opens the page in a browser without a cache. */
async function cold<Result>(measure: typeof timePage | typeof weighPage): Promise<Result> {
  const context = await browser.newContext({ locale: "en-GB" });
  try {
    return (await measure(await context.newPage(), `${server.url}/`)) as Result;
  } finally {
    await context.close();
  }
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

try {
  // The first page of a server is slower than the others.
  const weight = await cold<Record<string, number>>(weighPage);
  const times: PageTimes[] = [];
  for (let run = 0; run < RUNS; run++) times.push(await cold<PageTimes>(timePage));
  for (const [part, bytes] of Object.entries(weight))
    process.stdout.write(`${part}: ${(bytes / 1000).toFixed(1)} kB\n`);
  process.stdout.write(`first field usable: ${Math.round(median(times.map(({ field }) => field)))} ms\n`);
  process.stdout.write(`scripts at work: ${Math.round(median(times.map(({ scripts }) => scripts)))} ms\n`);
} finally {
  await browser.close();
  await server.stop();
}

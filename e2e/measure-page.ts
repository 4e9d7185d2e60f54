import { chromium, type Page } from "@playwright/test";
import config from "../playwright.config.ts";
import { startServer } from "../server/testing/server.ts";
import {
  type PageTimes,
  type Reach,
  slowNetwork,
  slowPhone,
  timePage,
  weighPage,
} from "./page-measurement.ts";

/** `npm run measure:page`: size of the hosted page, and its times on slow phones, as docs/performance.md shows them. */
const RUNS = 5;

const server = await startServer({ env: { STILE_RATE_LIMITER_ENABLED: "false" } });
const browser = await chromium.launch(config.use?.launchOptions ?? {});

/** Opens the page in a browser without a cache. */
async function cold<Result>(measure: (page: Page, url: string) => Promise<Result>): Promise<Result> {
  const context = await browser.newContext({ locale: "en-GB" });
  try {
    return await measure(await context.newPage(), `${server.url}/`);
  } finally {
    await context.close();
  }
}

const median = (numbers: number[]) =>
  Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0);

async function time(name: string, reach: Reach): Promise<void> {
  const times: PageTimes[] = [];
  for (let run = 0; run < RUNS; run++) times.push(await cold((page, url) => timePage(page, url, reach)));
  const [field, scripts] = [times.map((each) => each.field), times.map((each) => each.scripts)].map(median);
  process.stdout.write(`${name}: first field usable ${field} ms, scripts at work ${scripts} ms\n`);
}

try {
  // The first page of a server is slower than the others.
  const weight = await cold(weighPage);
  for (const [part, bytes] of Object.entries(weight))
    process.stdout.write(`${part}: ${(bytes / 1000).toFixed(1)} kB\n`);
  await time("slow phone", slowPhone);
  await time("slow network", slowNetwork);
} finally {
  await browser.close();
  await server.stop();
}

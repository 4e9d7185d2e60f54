import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "@playwright/test";
import config from "../playwright.config.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { freePort } from "../server/testing/free-port.ts";
import { startPrometheus } from "../server/testing/prometheus.ts";
import { startServer } from "../server/testing/server.ts";

/**
 * Takes the picture of docs/operating/observing.md: a Prometheus that scrapes a server on which twenty visitors a second
 * begin to sign in, some with a wrong address. `npm run pictures:metrics` runs it.
 */
const SECONDS = 90;

const port = await freePort();
const server = await startServer({
  env: { STILE_METRICS_PORT: String(port), STILE_SERVER_WORKERS: "2", STILE_RATE_LIMITER_ENABLED: "false" },
});
const prometheus = await startPrometheus([`127.0.0.1:${port}`]);

async function visit(index: number): Promise<void> {
  const client = flowClient(server.url);
  await client.start("login", { capabilities: {} });
  if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
  const email = index % 4 === 0 ? "no address" : `visitor${index}@example.com`;
  await client.act("continue_with_login_identifier", { email });
}

for (let index = 0; index < SECONDS * 20; index += 1) {
  void visit(index).catch(() => {});
  await pause(50);
}

const browser = await chromium.launch(config.use?.launchOptions);
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const panels = [
  "sum by (stile_state, stile_verdict) (rate(stile_step_duration_seconds_count[15s]))",
  "histogram_quantile(0.95, sum by (stile_state, le) (rate(stile_step_duration_seconds_bucket[15s])))",
];
const query = panels.flatMap((expression, index) => [
  [`g${index}.expr`, expression],
  [`g${index}.tab`, "0"],
  [`g${index}.range_input`, "2m"],
]);
await page.goto(`${prometheus.url}/classic/graph?${new URLSearchParams(query)}`);
await page.waitForLoadState("networkidle");
await pause(2_000);
await page.screenshot({ path: join(import.meta.dirname, "../docs/pictures/prometheus.png"), fullPage: true });
await browser.close();
await prometheus.close();
await server.stop();

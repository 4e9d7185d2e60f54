import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../server/testing/free-port.ts";
import { startPrometheus } from "../server/testing/prometheus.ts";
import { type RunningServer, startServer } from "../server/testing/server.ts";
import type { Front, Place, Surroundings } from "./drill.ts";
import { settingsOfVisitors } from "./load.ts";

const alertsFile = join(import.meta.dirname, "../docs/operating/monitoring/prometheus-alerts.yaml");

const WATCH_INTERVAL_MS = 500;

/** Starts the servers of a drill, and what stands before them. */
export async function openPlace({
  env,
  dataDir,
  servers: count = 1,
  openFront,
}: Surroundings): Promise<Place> {
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), "stile-drill-"));
    opened.push({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    const targets: string[] = [];
    const servers: RunningServer[] = [];
    for (let index = 0; index < count; index += 1) {
      const port = await freePort();
      const server = await startServer({
        env: { ...settingsOfVisitors, STILE_METRICS_PORT: String(port), ...env },
        ...(dataDir === undefined ? {} : { dataDir }),
      });
      opened.push({ close: () => server.stop() });
      targets.push(`127.0.0.1:${port}`);
      servers.push(server);
    }
    const [server] = servers;
    if (!server) throw new Error("a drill needs a server");
    const front: Front = (await openFront?.(servers)) ?? { url: server.url, close: async () => {} };
    opened.push(front);
    const prometheus = await startPrometheus(targets, { rules: hastenedAlerts(folder) });
    opened.push(prometheus);
    const seen = new Set<string>();
    const look = async () => {
      for (const { name, state } of await prometheus.alerts()) if (state === "firing") seen.add(name);
    };
    const watch = setInterval(() => void look().catch(() => {}), WATCH_INTERVAL_MS);
    opened.push({ close: async () => clearInterval(watch) });
    return {
      server,
      servers,
      url: front.url,
      logs: () => servers.map((one) => one.logs()).join(""),
      async metric(expression) {
        const found = await prometheus.query(expression);
        return found.length === 0 ? Number.NaN : Math.max(...found.map(({ value }) => value));
      },
      alerts: async () => [...seen].toSorted(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A drill takes seconds, where an alert waits for minutes so that it is no false one. It waits for longer than one scrape
 * that fails: a worker is replaced meanwhile.
 */
function hastenedAlerts(folder: string): string {
  const file = join(folder, "alerts.yaml");
  const hastened = readFileSync(alertsFile, "utf8")
    .replaceAll(/for: \d+[ms]/g, "for: 2s")
    .replaceAll(/\[\d+m\]/g, "[10s]")
    .replaceAll(/_oldest_seconds\) > \d+/g, "_oldest_seconds) > 5");
  writeFileSync(file, hastened);
  return file;
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../server/testing/free-port.ts";
import { type Prometheus, startPrometheus } from "../server/testing/prometheus.ts";
import { type RunningServer, startServer } from "../server/testing/server.ts";

/** A server that Prometheus watches with the alerts of the documentation. */
export interface Place {
  server: RunningServer;
  /** The alerts that were pending or firing since it was opened. */
  alerts(): Promise<string[]>;
  close(): Promise<void>;
}

const alertsFile = join(import.meta.dirname, "../docs/operating/monitoring/prometheus-alerts.yaml");

const settings = {
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_PASSKEY_ENABLED: "false",
  STILE_MFA_ENABLED: "false",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
  STILE_SESSION_LIMIT: "1000",
  STILE_SESSION_ALGORITHM: "ES256",
};

const WATCH_INTERVAL_MS = 500;

/** @param env of the server, beside what each drill needs */
export async function openPlace(env: Record<string, string>): Promise<Place> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "stile-drill-"));
  // A drill takes seconds, where an alert waits for minutes so that it is no false one.
  const rules = join(folder, "alerts.yaml");
  const hastened = readFileSync(alertsFile, "utf8")
    .replaceAll(/for: \d+[ms]/g, "for: 1s")
    .replaceAll(/\[\d+m\]/g, "[10s]")
    .replaceAll(/_oldest_seconds\) > \d+/g, "_oldest_seconds) > 5");
  writeFileSync(rules, hastened);
  const server = await startServer({ env: { ...settings, STILE_METRICS_PORT: String(port), ...env } });
  const prometheus: Prometheus = await startPrometheus([`127.0.0.1:${port}`], { rules });
  const seen = new Set<string>();
  const watch = setInterval(
    () =>
      void prometheus.alerts().then(
        (alerts) => {
          for (const { name } of alerts) seen.add(name);
        },
        () => {},
      ),
    WATCH_INTERVAL_MS,
  );
  return {
    server,
    alerts: async () => [...seen].toSorted(),
    async close() {
      clearInterval(watch);
      await prometheus.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

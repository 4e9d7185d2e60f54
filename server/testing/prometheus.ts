import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEnvironment } from "../../scripts/test-programs.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

/** A real Prometheus that scrapes servers each second. */
export interface Prometheus {
  url: string;
  /** The current values of an expression, with their labels. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
  /** The exemplars of the last five minutes in the series that an expression names, with the bounds of their buckets. */
  exemplars(expression: string): Promise<StoredExemplar[]>;
  /** What became of the last scrape of each server; an empty text if it was read. */
  scrapeErrors(): Promise<string[]>;
  /** Names of the alerts that are pending or firing. */
  alerts(): Promise<{ name: string; state: string }[]>;
  /** What is wrong with the rules, if something is. */
  ruleErrors(): Promise<string[]>;
  close(): Promise<void>;
}

/** How far back exemplars are asked for. */
const EXEMPLARS_SECONDS = 300;

export interface StoredExemplar {
  /** The bound of the bucket. */
  le: string | undefined;
  traceId: string | undefined;
  value: number;
  /** In seconds since 1970. */
  at: number;
}

/**
 * Starts Debian's Prometheus in a temporary folder.
 *
 * @param targets addresses of ports of metrics, as `127.0.0.1:9464`
 * @param rules a file of alerts
 */
export async function startPrometheus(
  targets: readonly string[],
  { rules, key }: { rules?: string; key?: string } = {},
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "stile-prometheus-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(folder, "data"));
  const configuration = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    ...(rules ? { rule_files: [rules] } : {}),
    scrape_configs: [
      {
        job_name: "stile",
        static_configs: [{ targets }],
        ...(key ? { authorization: { credentials: key } } : {}),
      },
    ],
  };
  // JSON is YAML.
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(configuration));
  const program: ChildProcess = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
    ],
    { stdio: "ignore", env: programEnvironment },
  );
  const gone = new Promise((resolve) => program.once("exit", resolve));
  const ask = async <Data>(path: string): Promise<Data> => {
    const answer = await fetch(`${url}/api/v1/${path}`);
    const { data } = (await answer.json()) as { data: Data };
    return data;
  };
  await eventually(async () => {
    if (!(await fetch(`${url}/-/ready`)).ok) throw new Error("Prometheus is not ready");
  });
  return {
    url,
    async query(expression) {
      const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `query?${new URLSearchParams({ query: expression })}`,
      );
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async exemplars(expression) {
      const now = Date.now() / 1_000;
      const range = { start: String(now - EXEMPLARS_SECONDS), end: String(now + 1) };
      const series = await ask<
        {
          seriesLabels: Record<string, string>;
          exemplars: { labels: Record<string, string>; value: string; timestamp: number }[];
        }[]
      >(`query_exemplars?${new URLSearchParams({ query: expression, ...range })}`);
      return series.flatMap(({ seriesLabels, exemplars }) =>
        exemplars.map(({ labels, value, timestamp }) => ({
          le: seriesLabels.le,
          traceId: labels.trace_id,
          value: Number(value),
          at: timestamp,
        })),
      );
    },
    async scrapeErrors() {
      const { activeTargets } = await ask<{ activeTargets: { lastError: string }[] }>("targets");
      return activeTargets.map(({ lastError }) => lastError);
    },
    async alerts() {
      const { alerts } = await ask<{ alerts: { labels: { alertname: string }; state: string }[] }>("alerts");
      return alerts.map(({ labels, state }) => ({ name: labels.alertname, state }));
    },
    async ruleErrors() {
      const { groups } = await ask<{ groups: { rules: { name: string; lastError?: string }[] }[] }>("rules");
      return groups.flatMap(({ rules: all }) =>
        all.flatMap(({ name, lastError }) => (lastError ? [`${name}: ${lastError}`] : [])),
      );
    },
    async close() {
      program.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

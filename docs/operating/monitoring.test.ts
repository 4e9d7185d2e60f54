import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isInstalled, programEnvironment } from "../../scripts/test-programs.ts";
import { metrics } from "../../server/observability/metrics.ts";
import { familyName } from "../../server/start/telemetry/open-metrics.ts";
import { eventually } from "../../server/testing/eventually.ts";
import { flowClient } from "../../server/testing/flow-client.ts";
import { freePort } from "../../server/testing/free-port.ts";
import { startPrometheus } from "../../server/testing/prometheus.ts";
import { startServer } from "../../server/testing/server.ts";

const alertsFile = join(import.meta.dirname, "monitoring/prometheus-alerts.yaml");
const dashboardFile = join(import.meta.dirname, "monitoring/grafana-dashboard.json");

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const { panels } = JSON.parse(readFileSync(dashboardFile, "utf8")) as { panels: Panel[] };

/** The expressions of the dashboard, as Grafana would send them. */
const expressions = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [
    title,
    expr.replaceAll("$instance", ".*").replaceAll("$__rate_interval", "1m"),
  ]),
);

/** Every name that a metric has in Prometheus, with its labels. */
const declared = new Map(
  Object.values(metrics).flatMap(({ name, unit, kind, attributes }) => {
    const family = familyName({ name, unit });
    const suffixes = {
      counter: ["_total"],
      asked_sum: ["_total"],
      asked: [""],
      histogram: ["_bucket", "_count", "_sum"],
    };
    const labels = attributes.map((attribute) => attribute.replaceAll(".", "_"));
    return suffixes[kind].map((suffix): [string, string[]] => [family + suffix, labels]);
  }),
);

/** The names that look like ones of metrics, and the labels that are compared with a text or grouped by. */
function namesIn(text: string): { names: string[]; labels: string[] } {
  const names = text.match(/\b(?:stile|http|db|process|nodejs)_[a-z0-9_]+/g) ?? [];
  const labels = [...text.matchAll(/\bby \(([^)]*)\)|([a-z_]+)\s*=?[=~!]~?"/g)];
  return {
    names: names.filter((name) => declared.has(name)),
    labels: labels.flatMap(([, grouped, compared]) => [
      ...(grouped?.split(/,\s*/) ?? []),
      ...(compared ? [compared] : []),
    ]),
  };
}

const common = ["instance", "process", "job", "le"];

test.each(expressions)("the panel %s asks for metrics that there are", (_, expression) => {
  const { names, labels } = namesIn(expression);
  expect(names.length).toBeGreaterThan(0);
  const known = new Set([...common, ...names.flatMap((name) => declared.get(name) ?? [])]);
  expect(labels.filter((label) => !known.has(label))).toEqual([]);
});

const words = readFileSync(alertsFile, "utf8").replaceAll(/^\s*(?:#|summary|description).*$/gm, "");

test("the alerts ask for metrics that there are", () => {
  const unknown = (words.match(/\b(?:stile|http|db|process|nodejs)_[a-z0-9_]+/g) ?? []).filter(
    (name) => !declared.has(name) && ![...declared.values()].some((labels) => labels.includes(name)),
  );
  expect(unknown).toEqual([]);
});

const missing = isInstalled("prometheus")
  ? false
  : "skipped: prometheus is not installed (apt-get install prometheus)";

describe.skipIf(missing)("Prometheus", () => {
  test("finds no fault in the alerts", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", alertsFile], {
      encoding: "utf8",
      env: programEnvironment,
    });
    expect(`${stdout}${stderr}`).toContain("SUCCESS");
    expect(status).toBe(0);
  });

  test("reads the metrics of a server, answers each panel, and alerts when the server is gone", async () => {
    const port = await freePort();
    const key = "a key of the metrics";
    const server = await startServer({ env: { STILE_METRICS_PORT: String(port), STILE_METRICS_KEY: key } });
    const prometheus = await startPrometheus([`127.0.0.1:${port}`], { rules: alertsFile, key });
    await flowClient(server.url).start("login");
    const starts = 'http_server_request_duration_seconds_count{http_route="/login"}';
    await eventually(async () => expect(await prometheus.query(starts)).toMatchObject([{ value: 1 }]));
    expect(await prometheus.scrapeErrors()).toEqual([""]);
    for (const [title, expression] of expressions)
      expect(await prometheus.query(expression), title).toBeInstanceOf(Array);
    expect(await prometheus.ruleErrors()).toEqual([]);
    expect(await prometheus.alerts()).toEqual([]);
    await server.kill("SIGTERM");
    await eventually(async () =>
      expect(await prometheus.alerts()).toContainEqual({ name: "StileDown", state: "pending" }),
    );
    await prometheus.close();
    await server.stop();
  });
});

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { isInstalled, programEnvironment } from "../../scripts/test-programs.ts";
import { metrics } from "../../server/observability/metrics.ts";
import { familyName } from "../../server/start/telemetry/open-metrics.ts";
import { eventually } from "../../server/testing/eventually.ts";
import { flowClient } from "../../server/testing/flow-client.ts";
import { freePort } from "../../server/testing/free-port.ts";
import { testDatabase } from "../../server/testing/postgres.ts";
import { run } from "../../server/testing/program.ts";
import { startPrometheus } from "../../server/testing/prometheus.ts";
import { startServer } from "../../server/testing/server.ts";
import { signUp } from "../../server/testing/sign-up.ts";
import { runStile } from "../../server/testing/stile.ts";
import { startTraceCollector } from "../../server/testing/trace-collector.ts";
import { waitsForLock } from "../../server/testing/waits-for-lock.ts";
import { commandsOf } from "../fenced-blocks.ts";

const alertsFile = join(import.meta.dirname, "monitoring/prometheus-alerts.yaml");
const dashboardFile = join(import.meta.dirname, "monitoring/grafana-dashboard.json");

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string; exemplar?: boolean }[];
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

/** The series that have exemplars. */
const withExemplars = Object.values(metrics)
  .filter(({ hasExemplars }) => hasExemplars)
  .map(({ name, unit }) => `${familyName({ name, unit })}_bucket`);

test("the graphs of durations show the exemplars that there are", () => {
  const graphs = panels.filter(({ type }) => type === "timeseries");
  const targets = graphs.flatMap((graph) => graph.targets ?? []);
  const having = targets.filter(({ expr }) => withExemplars.some((series) => expr.includes(series)));
  expect(having.length).toBeGreaterThan(0);
  expect(targets.filter(({ exemplar }) => exemplar)).toEqual(having);
});

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

/** For how long another transaction keeps a login waiting: a bound of buckets, which no other login reaches. */
const SLOW_SECONDS = 2.5;

interface RecordedWaits {
  total: number;
  database: number;
}

/** Signs in by password, and skips all else that is offered. */
async function signIn(url: string, { email, password }: { email: string; password: string }): Promise<void> {
  const client = flowClient(url);
  await client.start("login", { capabilities: {} });
  await client.act("continue_with_login_identifier", { email });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  while (client.state.name !== "success") await client.act("skip");
}

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

  test("a slow login is found from the graph to its trace to its flow", async () => {
    const { url, database, close } = await testDatabase();
    onTestFinished(close);
    const port = await freePort();
    const collector = await startTraceCollector();
    onTestFinished(collector.close);
    const server = await startServer({
      env: {
        DATABASE_URL: url,
        STILE_SERVER_WORKERS: "2",
        STILE_METRICS_PORT: String(port),
        STILE_EMAIL_REQUIRE_VERIFICATION: "false",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_BSP_SCHEDULE_DELAY: "50",
      },
    });
    onTestFinished(server.stop);
    const prometheus = await startPrometheus([`127.0.0.1:${port}`]);
    onTestFinished(prometheus.close);
    const people = ["ada", "grace", "mary"].map((name) => ({
      email: `${name}@example.com`,
      password: `a quite secret ${name}`,
    }));
    for (const person of people) await signUp(flowClient(server.url), person);
    for (const person of [...people, ...people]) await signIn(server.url, person);
    // Another transaction has the account for some seconds.
    const holder = await database.write.$client.connect();
    await holder.query("begin");
    const grace = "select user_id from emails where address = 'grace@example.com'";
    const { rowCount } = await holder.query(`select from users where id = (${grace}) for update`);
    expect(rowCount).toBe(1);
    const slow = signIn(server.url, { email: "grace@example.com", password: "a quite secret grace" });
    await waitsForLock(database.write.$client);
    await pause(SLOW_SECONDS * 1_000);
    await holder.query("rollback");
    holder.release();
    await slow;
    for (const person of people) await signIn(server.url, person);

    // The graph shows the state, and an exemplar in its bucket.
    const slower = (family: string, by: string) =>
      `sum by (${by}) (${family}_count) - sum by (${by}) (${family}_bucket{le="${SLOW_SECONDS}"}) > 0`;
    await eventually(async () => {
      const states = await prometheus.query(slower("stile_step_duration_seconds", "stile_state"));
      expect(states).toEqual([{ labels: { stile_state: "login_password" }, value: 1 }]);
      const signIns = await prometheus.query(slower("stile_sign_in_duration_seconds", "stile_method"));
      expect(signIns).toEqual([{ labels: { stile_method: "password" }, value: 1 }]);
    });
    const exemplarOf = async (panel: string) => {
      const found = new Map(expressions).get(panel) ?? "";
      const above = (await prometheus.exemplars(found)).filter(({ value }) => value > SLOW_SECONDS);
      expect(above, panel).toHaveLength(1);
      return above[0];
    };
    const exemplar = await exemplarOf("Slowest states, 95 %");
    expect(exemplar?.le).toBe("5.0");
    const ofSignIn = await exemplarOf("Time to sign in");

    // The page asks for it by a command.
    const command = commandsOf("docs/operating/observing.md", "curl -G", {
      "http://localhost:9090": prometheus.url,
    });
    const asked = await run("sh", ["-e", "-c", command], { cwd: import.meta.dirname, env: process.env });
    expect(asked.code, asked.err).toBe(0);
    expect(JSON.parse(asked.out)).toMatchObject({
      data: [{ exemplars: [{ labels: { trace_id: exemplar?.traceId } }] }],
    });

    // Its trace shows what took the time, and the flow.
    const spansOf = (id: string | undefined) =>
      eventually(() => {
        const spans = collector.spans.filter(({ traceId }) => traceId === id);
        expect(spans.some(({ name }) => name === "POST /login")).toBe(true);
        return spans;
      });
    const spans = await spansOf(exemplar?.traceId);
    const step = spans.find(({ name }) => name === "step login_password");
    const waits = spans.filter(
      ({ parent, milliseconds }) => parent === step?.id && milliseconds > SLOW_SECONDS * 1_000,
    );
    expect(waits.map(({ name }) => name)).toEqual(["postgresql"]);
    const flow = String(step?.attributes["stile.flow.id"]);
    const last = await spansOf(ofSignIn?.traceId);
    expect(last.find(({ name }) => name.startsWith("step "))?.attributes["stile.flow.id"]).toBe(flow);

    // The flow was recorded.
    const cli = { cwd: server.folder, env: server.environment };
    const shown = await eventually(async () => {
      const { code, out } = await runStile(["flow", "show", flow, "--json"], cli);
      expect(code).toBe(0);
      return JSON.parse(out) as { path: { from: string; request_id: string; milliseconds: RecordedWaits }[] };
    });
    const slowSteps = shown.path.filter(({ milliseconds }) => milliseconds.total > SLOW_SECONDS * 1_000);
    expect(slowSteps).toMatchObject([{ from: "login_password", request_id: exemplar?.traceId }]);
    expect(slowSteps[0]?.milliseconds.database).toBeGreaterThan(SLOW_SECONDS * 1_000);
  });
});

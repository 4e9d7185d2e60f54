import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { metrics } from "../../observability/metrics.ts";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { freePort } from "../../testing/free-port.ts";
import { type Family, parseOpenMetrics } from "../../testing/open-metrics.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { signUp } from "../../testing/sign-up.ts";
import { type SmtpCatcher, startSmtp } from "../../testing/smtp.ts";
import { startTraceCollector } from "../../testing/trace-collector.ts";
import { startReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { familyName } from "./open-metrics.ts";

const KEY = "a key of the metrics";
const address = `ada.${randomBytes(8).toString("hex")}@example.com`;
const password = `a quite secret ${randomBytes(8).toString("hex")}`;

let port: number;
let smtp: SmtpCatcher;
let receiver: WebhookReceiver;
let server: RunningServer;

beforeAll(async () => {
  port = await freePort();
  smtp = await startSmtp();
  receiver = await startReceiver();
  server = await startServer({
    env: {
      SMTP_URL: smtp.url,
      STILE_METRICS_PORT: String(port),
      STILE_METRICS_KEY: KEY,
      STILE_SERVER_WORKERS: "2",
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["user"] }]),
    },
  });
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
  await smtp.close();
});

const ask = (path = "/metrics", headers: Record<string, string> = { authorization: `Bearer ${KEY}` }) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers });

/** Sends a text on a connection of its own, and returns the status of the answer. */
async function rawStatus(text: string): Promise<string | undefined> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.end(text);
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  return /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
}

async function read(): Promise<Map<string, Family>> {
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
  return parseOpenMetrics(await answer.text());
}

/** The sum of the samples of a family that have some labels. */
function sum(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number {
  const [, family = ""] = /^(.*?)(?:_total|_count|_bucket|_sum)?$/.exec(name) ?? [];
  const found = (families.get(family) ?? families.get(name))?.samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  return (found ?? []).reduce((total, { value }) => total + value, 0);
}

describe("GET /metrics", () => {
  test("tells of all processes what happened in a sign-up and a failed sign-in", async () => {
    await signUp(flowClient(server.url), { email: address, password, codeOf: (to) => smtp.codeFor(to) });
    const client = flowClient(server.url);
    await client.start("login", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    await client.act("continue_with_login_identifier", { email: address });
    if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
    await client.act("password_login", { password: "not the password" });

    await eventually(async () => {
      const found = await read();
      const signUps = { stile_sign_in_kind: "signed_up" };
      expect(sum(found, "stile_sign_in_duration_seconds_count", signUps)).toBe(1);
      const wrong = { stile_method: "password", stile_state: "login_password" };
      expect(sum(found, "stile_failures_total", wrong)).toBe(1);
      const sent = { stile_channel: "mail", stile_outcome: "sent" };
      expect(sum(found, "stile_messages_total", sent)).toBeGreaterThan(0);
      expect(
        sum(found, "stile_delivery_duration_seconds_count", { stile_outcome: "delivered" }),
      ).toBeGreaterThan(0);
      expect(sum(found, "stile_job_duration_seconds_count", { stile_outcome: "done" })).toBeGreaterThan(0);
      expect(sum(found, "stile_hash_duration_seconds_count")).toBeGreaterThanOrEqual(2);
      const login = { http_route: "/login", http_request_method: "POST", http_response_status_code: "200" };
      expect(sum(found, "http_server_request_duration_seconds_count", login)).toBeGreaterThanOrEqual(3);
      const steps = { stile_flow_type: "login", stile_state: "login_password" };
      expect(sum(found, "stile_step_duration_seconds_count", steps)).toBe(1);
    });
  });

  test("counts connections that the server has ended, by the reason", async () => {
    const ended = (reason: string) =>
      read().then((found) => sum(found, "stile_connections_ended_total", { stile_reason: reason }));
    // From zero, so that a rate is told of the first ones.
    const samples = (await read()).get("stile_connections_ended")?.samples ?? [];
    expect(new Set(samples.map(({ labels }) => labels.stile_reason))).toEqual(
      new Set(["large_headers", "malformed", "slow", "unread"]),
    );
    expect([await ended("malformed"), await ended("large_headers")]).toEqual([0, 0]);
    const statuses = await Promise.all([
      rawStatus("no HTTP\r\n\r\n"),
      rawStatus(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: ${"a".repeat(20_000)}\r\n\r\n`),
    ]);
    expect(statuses).toEqual(["400", "431"]);
    expect([await ended("malformed"), await ended("large_headers")]).toEqual([1, 1]);
  });

  test("tells the state of processes and database", async () => {
    const found = await read();
    expect(sum(found, "stile_ready_ratio")).toBe(1);
    expect(found.get("stile_clock_difference_seconds")?.samples).toHaveLength(1);
    expect(Math.abs(sum(found, "stile_clock_difference_seconds"))).toBeLessThan(1);
    expect(sum(found, "stile_table_rows", { db_collection_name: "users" })).toBeGreaterThanOrEqual(0);
    expect(sum(found, "stile_deliveries_waiting")).toBe(0);
    for (const process of ["owner", "1", "2"]) {
      expect(sum(found, "process_memory_usage_bytes", { process })).toBeGreaterThan(1e7);
      expect(sum(found, "v8js_memory_heap_used_bytes", { process })).toBeGreaterThan(1e6);
      expect(sum(found, "db_client_connection_max", { process })).toBeGreaterThan(0);
      expect(sum(found, "process_cpu_time_seconds_total", { process })).toBeGreaterThan(0);
    }
  });

  test("A360 has no other metrics than those that are declared, with their texts, and nothing of a person", async () => {
    const text = await (await ask()).text();
    const declared = new Map(
      Object.values(metrics).map((metric) => [familyName(metric), metric.description]),
    );
    for (const [name, { help }] of parseOpenMetrics(text))
      if (!name.startsWith("otel_sdk_")) expect(declared.get(name), name).toBe(help);
    for (const secret of [address, password, address.split("@")[0], "127.0.0.1"])
      expect(text).not.toContain(secret);
  });

  test.each([
    ["without the key", "/metrics", {}, 401],
    ["with another key", "/metrics", { authorization: "Bearer another" }, 401],
    ["at another address", "/", { authorization: `Bearer ${KEY}` }, 404],
  ])("A360 is refused %s", async (_, path, headers, status) => {
    expect((await ask(path, headers)).status).toBe(status);
  });

  test("is not at the port of the service", async () => {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test("is answered while many ask, and after a worker was killed", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const pid = Number(/"worker":(\d+)/.exec(server.logs())?.[1]);
    process.kill(pid, "SIGKILL");
    await eventually(async () => {
      const found = await read();
      const ofProcess = found.get("process_memory_usage_bytes")?.samples.map(({ labels }) => labels.process);
      expect(ofProcess?.toSorted()).toEqual(["1", "2", "owner"]);
    });
  });
});

test("a server whose port of the metrics is taken does not start, and says why", async () => {
  const start = startServer({ env: { STILE_METRICS_PORT: String(port) } });
  await expect(start).rejects.toThrow(`stile: the port of the metrics (127.0.0.1:${port}) cannot be opened`);
});

test("a server under Next tells its metrics, and pushes them too where that is asked for", async () => {
  const collector = await startTraceCollector();
  const own = await freePort();
  const next = await startServer({
    under: "next",
    env: {
      STILE_METRICS_PORT: String(own),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
  });
  await flowClient(next.url).start("login");
  const families = parseOpenMetrics(await (await fetch(`http://127.0.0.1:${own}/metrics`)).text());
  const login = { http_route: "/login", http_response_status_code: "200" };
  expect(sum(families, "http_server_request_duration_seconds_count", login)).toBe(1);
  await eventually(() => {
    expect(collector.received).toContainEqual({ type: "application/json", path: "/v1/metrics" });
    expect(collector.bodies.join()).toContain('"stile.step.duration"');
  });
  await next.stop();
  await collector.close();
});

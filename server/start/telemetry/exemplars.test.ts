import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { freePort } from "../../testing/free-port.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { parseOpenMetrics, type Sample } from "../../testing/open-metrics.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { signUp } from "../../testing/sign-up.ts";
import { startTraceCollector, type TraceCollector } from "../../testing/trace-collector.ts";

const address = `ada.${randomBytes(8).toString("hex")}@example.com`;
const password = `a quite secret ${randomBytes(8).toString("hex")}`;

/** A server with a port of metrics, whose traces go to a collector. */
async function startTraced(env: Record<string, string> = {}) {
  const port = await freePort();
  const collector = await startTraceCollector();
  const server = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
      STILE_METRICS_PORT: String(port),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      ...env,
    },
  });
  return {
    server,
    collector,
    text: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    async stop() {
      await server.stop();
      await collector.close();
    },
  };
}

/** The samples that have an exemplar, with their family. */
const exemplarsIn = (text: string) =>
  [...parseOpenMetrics(text)].flatMap(([family, { samples }]) =>
    samples.filter(({ exemplar }) => exemplar).map((sample) => ({ family, ...sample })),
  );

const traceOf = ({ exemplar }: Pick<Sample, "exemplar">) => exemplar?.labels.trace_id ?? "";

/** Signs in by password, and returns the ids of the requests with the password and of the last one. */
async function signIn({ url }: RunningServer): Promise<[password: string, last: string]> {
  const client = flowClient(url);
  await client.start("login", { capabilities: {} });
  await client.act("continue_with_login_identifier", { email: address });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  const idOf = ({ headers }: { headers: Headers }) => headers.get("x-request-id") ?? "";
  const proved = idOf(await client.act("password_login", { password }));
  while (client.state.name !== "success") await client.act("skip");
  return [proved, idOf(client.last)];
}

const spansOf = ({ spans }: TraceCollector, id: string) =>
  eventually(() => {
    const found = spans.filter(({ traceId }) => traceId === id);
    expect(found.some(({ kind }) => kind === 2)).toBe(true);
    return found;
  });

const shared = await openForTests(startTraced({ STILE_SERVER_WORKERS: "2" }));

describe("exemplars in GET /metrics", () => {
  test("name the newest trace of each bucket, of requests, steps and sign-ins of all processes", async () => {
    const { server, collector, text } = shared;
    await signUp(flowClient(server.url), { email: address, password });
    const before = Date.now() / 1_000;
    // Connections are handed to the processes in turn.
    await Promise.all(Array.from({ length: 6 }, () => flowClient(server.url).start("login")));
    const [proved, last] = await signIn(server);
    const found = exemplarsIn(await text());
    expect(new Set(found.map(({ family }) => family))).toEqual(
      new Set([
        "http_server_request_duration_seconds",
        "stile_step_duration_seconds",
        "stile_sign_in_duration_seconds",
      ]),
    );
    expect(new Set(found.map(({ labels }) => labels.process))).toEqual(new Set(["1", "2"]));
    const of = (id: string, family: string) =>
      found.find((sample) => sample.family === family && traceOf(sample) === id);
    const signedIn = of(last, "stile_sign_in_duration_seconds");
    expect(signedIn?.labels).toMatchObject({ stile_sign_in_kind: "signed_in", stile_method: "password" });
    expect(of(last, "http_server_request_duration_seconds")?.labels.http_route).toBe("/login");
    const step = of(proved, "stile_step_duration_seconds");
    const spans = await spansOf(collector, proved);
    const ofStep = spans.find(({ name }) => name === "step login_password");
    // The span lasts until the step was told of.
    expect(step?.exemplar?.value).toBeLessThanOrEqual(((ofStep?.milliseconds ?? 0) + 1) / 1_000);
    expect(step?.exemplar?.at).toBeGreaterThanOrEqual(before);
    expect(step?.exemplar?.at).toBeLessThanOrEqual(Date.now() / 1_000);
  });

  test("are in the bucket of their value, and in no other", async () => {
    const { text } = shared;
    const buckets = [...parseOpenMetrics(await text()).values()].flatMap(({ samples }) =>
      samples.filter(({ labels }) => labels.le !== undefined),
    );
    for (const [index, { exemplar, value }] of buckets.entries()) {
      const below = buckets[index - 1];
      const isFirst = below === undefined || below.labels.le === "+Inf";
      if (!exemplar || isFirst) continue;
      expect(exemplar.value).toBeGreaterThan(Number(below.labels.le));
      expect(value).toBeGreaterThan(below.value);
    }
  });

  test("A360 have nothing but the id of a trace, and no word of what a client sent", async () => {
    const { server, text } = shared;
    const client = flowClient(server.url);
    await client.start("login", { capabilities: {} });
    await client.act("continue_with_login_identifier", { email: address });
    await fetch(`${server.url}/login?action=${address}`, {
      method: "POST",
      headers: { traceparent: `00-${address}-${"d".repeat(16)}-01`, "x-request-id": "given.by-caller" },
    });
    const read = await text();
    for (const { exemplar } of exemplarsIn(read)) {
      expect(Object.keys(exemplar?.labels ?? {})).toEqual(["trace_id"]);
      expect(exemplar?.labels.trace_id).toMatch(/^[\da-f]{32}$/);
    }
    const held = [address, address.split("@")[0], password, "given.by-caller", client.state.csrf_token];
    for (const value of [...held, ...client.cookies.values()]) expect(read).not.toContain(value);
  });
});

test.each([
  ["where nothing is traced", { OTEL_TRACES_EXPORTER: "none" }],
  ["of requests that are not recorded", { OTEL_TRACES_SAMPLER: "always_off" }],
])("there are no exemplars %s", async (_, env) => {
  const { server, text, stop } = await startTraced(env);
  await flowClient(server.url).start("login");
  const read = await text();
  expect(read).toContain('stile_step_duration_seconds_count{stile_flow_type="login"');
  expect(read).not.toContain(" # {");
  await stop();
});

test("under Next there are exemplars too", async () => {
  const port = await freePort();
  const collector = await startTraceCollector();
  const server = await startServer({
    under: "next",
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      STILE_METRICS_PORT: String(port),
    },
  });
  const { headers } = await flowClient(server.url).start("login");
  const found = exemplarsIn(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  const ofStart = found.filter((sample) => traceOf(sample) === headers.get("x-request-id"));
  expect(ofStart.map(({ family }) => family).toSorted()).toEqual([
    "http_server_request_duration_seconds",
    "stile_step_duration_seconds",
  ]);
  await server.stop();
  await collector.close();
});

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { signUp } from "../../testing/sign-up.ts";
import { type SmtpCatcher, startSmtp } from "../../testing/smtp.ts";
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from "../../testing/trace-collector.ts";
import { startReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";

/** What a client enters that no span may have. */
const password = `a quite secret ${randomBytes(8).toString("hex")}`;
const address = `ada.${randomBytes(8).toString("hex")}@example.com`;

let collector: TraceCollector;
let smtp: SmtpCatcher;
let receiver: WebhookReceiver;
let server: RunningServer;

const tracing = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "50",
});

beforeAll(async () => {
  collector = await startTraceCollector();
  const env = { ...tracing(collector.url), OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test" };
  smtp = await startSmtp();
  receiver = await startReceiver();
  server = await startServer({
    env: {
      ...env,
      SMTP_URL: smtp.url,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["email.send", "user"] }]),
    },
  });
});

afterAll(async () => {
  await server.stop();
  await smtp.close();
  await receiver.close();
  await collector.close();
});

/** The spans of a trace, once its request has ended. */
const traceOf = (id: string): Promise<CollectedSpan[]> =>
  eventually(() => {
    const spans = collector.spans.filter(({ traceId }) => traceId === id);
    expect(spans.some(({ kind }) => kind === 2)).toBe(true);
    return spans;
  });

describe("a traced request", () => {
  test("has a span with its step, and that has the statements and the hash", async () => {
    const client = flowClient(server.url);
    await signUp(client, { email: address, password });
    await client.start("login", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    await client.act("continue_with_login_identifier", { email: address });
    if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
    const { headers } = await client.act("password_login", { password });

    const spans = await traceOf(headers.get("x-request-id") ?? "");
    const request = spans.find(({ kind }) => kind === 2);
    expect(request).toMatchObject({
      parent: "",
      name: "POST /login",
      attributes: {
        "http.request.method": "POST",
        "http.route": "/login",
        "http.response.status_code": 200,
        "stile.flow.type": "login",
        "stile.action": "password_login",
      },
      resource: { "service.name": "stile", "deployment.environment.name": "test" },
    });
    const step = spans.find(({ name }) => name === "step login_password");
    expect(step).toMatchObject({
      parent: request?.id,
      attributes: {
        "stile.flow.id": request?.attributes["stile.flow.id"],
        "stile.state": "login_password",
        "stile.action": "password_login",
        "stile.verdict": "performed",
        "stile.next_state": client.state.name,
      },
    });
    const parts = spans.filter(({ parent }) => parent === step?.id);
    expect(parts.filter(({ name }) => name === "hash")).toHaveLength(1);
    const statements = parts.filter(({ name }) => name === "postgresql");
    expect(statements.length).toBeGreaterThan(0);
    for (const { attributes, kind } of statements)
      expect({ kind, ...attributes }).toMatchObject({ kind: 3, "db.system.name": "postgresql" });
    expect(step?.milliseconds).toBeGreaterThanOrEqual(Math.max(...parts.map((part) => part.milliseconds)));
    // The step is recorded soon afterwards, which is no part of the request; the mail that it causes is.
    await pause(500);
    const end = (request?.startedAt ?? 0) + (request?.milliseconds ?? 0);
    const own = collector.spans.filter(({ traceId }) => traceId === request?.traceId);
    const isCaused = ({ name, parent }: CollectedSpan): boolean => {
      const above = own.find(({ id }) => id === parent);
      return /^(?:job |delivery)/.test(name) || (above !== undefined && isCaused(above));
    };
    const later = own.filter((span) => span.startedAt > end && !isCaused(span));
    expect(later).toEqual([]);
  });

  test("has in its trace the mail that it causes, and the delivery, which carries it on to the receiver", async () => {
    const client = flowClient(server.url);
    await client.start("login", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    const before = smtp.messages.length;
    await client.act("continue_with_login_identifier", { email: address });
    const { headers } = await client.act("continue_to_passcode_confirmation");
    const id = headers.get("x-request-id") ?? "";
    await smtp.waitFor(address, before);
    const spans = await eventually(async () => {
      const found = await traceOf(id);
      expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(["mail", "delivery"]));
      return found;
    });
    const named = (name: string) => spans.find((span) => span.name.startsWith(name));
    expect(named("job ")).toMatchObject({
      parent: named("step ")?.id,
      kind: 5,
      attributes: { "stile.outcome": "done", "stile.job.attempt": 1 },
    });
    expect(named("mail")?.parent).toBe(named("job ")?.id);
    expect(named("delivery")).toMatchObject({
      parent: named("job ")?.id,
      attributes: { "stile.event": "email.send", "http.response.status_code": 204 },
    });

    const delivered = receiver.received.find(({ headers: sent }) => sent.traceparent?.includes(id));
    expect(delivered?.headers.traceparent).toBe(`00-${id}-${named("delivery")?.id}-01`);
  });

  test("tells why a step was not performed", async () => {
    const client = flowClient(server.url);
    await client.start("login", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    const { headers } = await client.act("continue_with_login_identifier", { email: "no address" });
    const spans = await traceOf(headers.get("x-request-id") ?? "");
    expect(spans.find(({ name }) => name.startsWith("step "))?.attributes).toMatchObject({
      "stile.verdict": "error",
      "stile.error": "value_invalid_error",
    });
  });

  test("is in the trace of its caller, whose id is that of the request", async () => {
    const id = randomBytes(16).toString("hex");
    const caller = randomBytes(8).toString("hex");
    // Not sampled by the caller: what is recorded is decided here.
    const answer = await fetch(`${server.url}/.well-known/jwks.json`, {
      headers: { traceparent: `00-${id}-${caller}-00` },
    });
    expect(answer.headers.get("x-request-id")).toBe(id);
    expect(await traceOf(id)).toContainEqual(
      expect.objectContaining({ name: "GET /.well-known/jwks.json", parent: caller }),
    );
  });

  test.each([
    ["empty", ""],
    ["malformed", "00-zz"],
    ["of zeros", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`],
    ["long", "9".repeat(9_000)],
  ])("begins a trace of its own if that of the caller is %s", async (_, traceparent) => {
    const answer = await fetch(`${server.url}/health/alive`, { headers: { traceparent } });
    const id = answer.headers.get("x-request-id") ?? "";
    expect(id).toMatch(/^(?!0+$)[\da-f]{32}$/);
    expect(await traceOf(id)).toMatchObject([{ parent: "" }]);
  });

  test("keeps the id of a request that its caller has given", async () => {
    const answer = await fetch(`${server.url}/health/alive`, {
      headers: { "x-request-id": "given.by-caller" },
    });
    expect(answer.headers.get("x-request-id")).toBe("given.by-caller");
  });

  test("A358 has nothing that its client has entered or holds", async () => {
    const client = flowClient(server.url);
    await client.start("login", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    const { headers } = await client.act("continue_with_login_identifier", { email: address });
    await fetch(`${server.url}/login?action=${address}`, {
      method: "POST",
      headers: {
        cookie: `hanko=${password}`,
        traceparent: `00-${"c".repeat(32)}-${"d".repeat(16)}-01`,
        tracestate: `holder=${address.split("@")[0]}`,
        baggage: `holder=${encodeURIComponent(address)}`,
      },
    });
    await fetch(`${server.url}/login?action=${password.replaceAll(" ", "_")}`, { method: "POST" });
    await fetch(`${server.url}/nowhere/${address}?code=${address}`);
    await traceOf(headers.get("x-request-id") ?? "");
    const sent = collector.bodies.join("\n");
    const held = [
      password,
      password.replaceAll(" ", "_"),
      address,
      address.split("@")[0],
      client.state.csrf_token,
      ...client.cookies.values(),
    ];
    for (const value of held) {
      expect(value).toBeTruthy();
      expect(sent).not.toContain(value);
      expect(sent).not.toContain(encodeURIComponent(String(value)));
    }
  });
});

test("a request under Next has the same spans, and none of Next", async () => {
  const own = await startTraceCollector();
  const next = await startServer({ under: "next", env: tracing(own.url) });
  const { headers } = await flowClient(next.url).start("login");
  const spans = await eventually(() => {
    const found = own.spans.filter(({ traceId }) => traceId === headers.get("x-request-id"));
    expect(found.some(({ kind }) => kind === 2)).toBe(true);
    return found;
  });
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["postgresql", "step login", "POST /login"]),
  );
  await fetch(`${next.url}/?code=secret`);
  await next.stop();
  expect(own.bodies.join()).not.toMatch(/next\.|secret/);
  await own.close();
});

test.each(["refuse", "hang"] as const)(
  "logins go on, and the server stops in time, while a receiver of traces would %s",
  async (behave) => {
    const deaf = await startTraceCollector();
    deaf.behave = behave;
    const own = await startServer({ env: tracing(deaf.url) });
    const client = flowClient(own.url);
    for (let index = 0; index < 5; index += 1) expect((await client.start("login")).status).toBe(200);
    await eventually(() => expect(deaf.received.length).toBeGreaterThan(0));
    await own.kill("SIGTERM");
    expect(await own.ended()).toBe(0);
    await own.stop();
    await deaf.close();
  },
);

test("a receiver that refuses is told of in the log, and empty variables ask for nothing", async () => {
  const deaf = await startTraceCollector();
  deaf.behave = "refuse";
  const empty = { OTEL_TRACES_SAMPLER: "", OTEL_TRACES_EXPORTER: "", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" };
  const own = await startServer({ env: { ...tracing(deaf.url), ...empty } });
  await flowClient(own.url).start("login");
  await eventually(() => expect(own.logs()).toMatch(/"level":"warn".*"trouble":".*Forbidden.*sending/));
  await own.stop();
  await deaf.close();
});

test("A359 which part of the requests is recorded is no choice of their callers", async () => {
  const some = await startTraceCollector();
  const part = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" };
  const own = await startServer({ env: { ...tracing(some.url), ...part } });
  const traces = Array.from({ length: 60 }, (_, index) => String(index + 1).padStart(32, "0"));
  for (const id of traces)
    await fetch(`${own.url}/health/alive`, { headers: { traceparent: `00-${id}-${"1".repeat(16)}-01` } });
  await own.stop();
  const recorded = new Set(some.spans.map(({ traceId }) => traceId));
  // Fewer than ten, or more than fifty, of sixty come by chance once in ten million runs.
  expect(recorded.size).toBeGreaterThan(9);
  expect(recorded.size).toBeLessThan(51);
  await some.close();
});

test("spans are sent in Protocol Buffers by default, and a part of them if that is asked for", async () => {
  const binary = await startTraceCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: binary.url, OTEL_BSP_SCHEDULE_DELAY: "50" };
  const own = await startServer({ env });
  await fetch(`${own.url}/health/alive`);
  await eventually(() =>
    expect(binary.received).toContainEqual({ type: "application/x-protobuf", path: "/v1/traces" }),
  );
  const none = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" };
  await own.restart(none);
  const received = () => binary.received.filter(({ path }) => path === "/v1/traces").length;
  const before = received();
  const answer = await fetch(`${own.url}/health/alive`, {
    headers: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` },
  });
  expect(answer.headers.get("x-request-id")).toBe("a".repeat(32));
  await own.stop();
  expect(received()).toBe(before);
  await binary.close();
});

test.each([
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    "OTEL_EXPORTER_OTLP_PROTOCOL is grpc: http/protobuf, http/json are supported",
  ],
  [
    { OTEL_TRACES_SAMPLER: "sometimes" },
    "OTEL_TRACES_SAMPLER is sometimes: always_on, always_off, traceidratio are supported",
  ],
  [{ OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER_ARG is 2: it has to be from 0 to 1"],
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER is zipkin: otlp, none are supported"],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "//collector:4318" },
    "OTEL_EXPORTER_OTLP_ENDPOINT is //collector:4318: it has to be an address with http or https",
  ],
])("the server does not start with %j, and says why", async (env, message) => {
  const start = startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:9", ...env } });
  await expect(start).rejects.toThrow(`stile: ${message}`);
});

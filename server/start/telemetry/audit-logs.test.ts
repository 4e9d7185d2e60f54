import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { freePort } from "../../testing/free-port.ts";
import { parseOpenMetrics } from "../../testing/open-metrics.ts";
import { startServer } from "../../testing/server.ts";
import { startTraceCollector } from "../../testing/trace-collector.ts";

interface LogMessage {
  resourceLogs?: {
    scopeLogs: {
      logRecords: { eventName?: string; traceId?: string; severityText?: string; body: unknown }[];
    }[];
  }[];
}

const recordsIn = (bodies: readonly string[]) =>
  bodies
    .map((body) => JSON.parse(body) as LogMessage)
    .flatMap(({ resourceLogs = [] }) => resourceLogs.flatMap(({ scopeLogs }) => scopeLogs))
    .flatMap(({ logRecords }) => logRecords);

const sending = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BLRP_SCHEDULE_DELAY: "50",
});

/** Makes an entry of the audit log: a wrong password. Returns the id of its request. */
async function fail(url: string): Promise<string> {
  const client = flowClient(url);
  await client.start("login", { capabilities: {} });
  if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
  await client.act("continue_with_login_identifier", { email: "ada@example.com" });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  const { status, headers } = await client.act("password_login", { password: "not the password" });
  expect(status).toBeLessThan(500);
  return headers.get("x-request-id") ?? "";
}

test("entries of the audit log are sent as records of their trace where that is asked for, and counted", async () => {
  const collector = await startTraceCollector();
  const port = await freePort();
  const env = { ...sending(collector.url), OTEL_LOGS_EXPORTER: "otlp", STILE_METRICS_PORT: String(port) };
  const server = await startServer({ env });
  const id = await fail(server.url);
  const record = await eventually(() => {
    const found = recordsIn(collector.bodies).find(({ traceId }) => traceId === id);
    expect(found).toBeDefined();
    return found;
  });
  expect(record?.eventName).toBe("login_failure");
  // Masked as the settings say.
  expect(JSON.stringify(record?.body)).toContain(id);
  expect(JSON.stringify(record?.body)).not.toContain("ada@example.com");
  await eventually(async () => {
    const families = parseOpenMetrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const [sent] = families.get("otel_sdk_exporter_log_exported")?.samples ?? [];
    expect(sent?.value).toBeGreaterThan(0);
  });
  await server.stop();
  await collector.close();
});

test("entries of the audit log are not sent because traces are", async () => {
  const collector = await startTraceCollector();
  const server = await startServer({ env: sending(collector.url) });
  await fail(server.url);
  await server.stop();
  expect(collector.received).toContainEqual({ type: "application/json", path: "/v1/traces" });
  expect(collector.received.filter(({ path }) => path === "/v1/logs")).toEqual([]);
  await collector.close();
});

test.each(["refuse", "hang"] as const)(
  "sign-ins go on while the receiver of entries would %s, beyond what waits for it",
  async (behave) => {
    const deaf = await startTraceCollector();
    deaf.behave = behave;
    const env = {
      ...sending(deaf.url),
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_BLRP_MAX_QUEUE_SIZE: "2",
      OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: "1",
    };
    const server = await startServer({ env });
    for (let index = 0; index < 6; index += 1) await fail(server.url);
    await eventually(() => expect(deaf.received.some(({ path }) => path === "/v1/logs")).toBe(true));
    await server.kill("SIGTERM");
    expect(await server.ended()).toBe(0);
    await server.stop();
    await deaf.close();
  },
);

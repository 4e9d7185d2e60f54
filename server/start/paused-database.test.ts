import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { copyTemplate, type StartedCluster, startTestCluster } from "../testing/postgres-cluster.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** A server whose PostgreSQL stops answering while its connections stay open. It needs `npm run build`. */

/** More than a server has connections. */
const REQUESTS = 40;

let postgres: StartedCluster;
let server: RunningServer;

beforeAll(async () => {
  postgres = await startTestCluster();
  const { url } = await copyTemplate(postgres.cluster);
  server = await startServer({ env: { DATABASE_URL: url, STILE_RATE_LIMITER_ENABLED: "false" } });
});

afterAll(async () => {
  postgres?.resume();
  await server?.stop();
  await postgres?.stop();
});

const startFlow = async () => {
  const { status, headers } = await fetch(`${server.url}/login`, { method: "POST" });
  return [status, headers.get("retry-after")];
};

test("A114 while PostgreSQL is paused every request is answered 503 with Retry-After, and 200 once it goes on", async () => {
  const flow = flowClient(server.url);
  await flow.start("login");
  // The pools have open connections, whose statements PostgreSQL receives and does not answer.
  await Promise.all(Array.from({ length: REQUESTS }, startFlow));
  postgres.pause();
  const starting = Array.from({ length: REQUESTS }, startFlow);
  const step = await flow.act("register_client_capabilities");
  expect([step.status, step.headers.get("retry-after")]).toEqual([503, "1"]);
  for (const answer of await Promise.all(starting)) expect(answer).toEqual([503, "1"]);
  expect((await fetch(`${server.url}/health/alive`)).status).toBe(200);
  expect(server.logs()).toContain("the database does not answer");

  postgres.resume();
  await eventually(async () => expect((await fetch(`${server.url}/health/ready`)).status).toBe(200));
  expect(await Promise.all(Array.from({ length: REQUESTS }, startFlow))).toEqual(
    Array.from({ length: REQUESTS }, () => [200, null]),
  );
  await eventually(async () =>
    expect((await flow.act("register_client_capabilities")).state.name).not.toBe("error"),
  );
});

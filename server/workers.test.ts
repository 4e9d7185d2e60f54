import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./testing/eventually.ts";
import { flowClient } from "./testing/flow-client.ts";
import { type RunningServer, startServer } from "./testing/server.ts";
import { type Service, startService } from "./testing/service.ts";

/** Tests of the built server with `server.workers`. They need `npm run build`. */

const password = "correct horse battery";

const environment = {
  STILE_SERVER_WORKERS: "2",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  STILE_PASSKEY_ENABLED: "false",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
};

/** Each request on a connection of its own, so that the workers take turns. */
const turnAbout = { headers: { connection: "close" } };

interface Line {
  instance?: string;
  worker?: number;
  path?: string;
  status?: number;
  message?: string;
}

const linesOf = (text: string): Line[] =>
  text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));

/** Registers a user and stops before the password, which ends the registration. */
async function registerUntilPassword(server: RunningServer) {
  const client = flowClient(server.url, turnAbout);
  const email = `${randomUUID()}@example.com`;
  await client.start("registration");
  await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email });
  return { client, email };
}

describe("a server of two workers", () => {
  let service: Service;
  let server: RunningServer;

  beforeAll(async () => {
    service = await startService({
      ...environment,
      STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1,::1",
      // Slow hashing leaves time to end a worker between claim and write; far below the limit of a step.
      STILE_PASSWORD_HASH_MEMORY: "131072",
      // Reached by a hang only.
      STILE_SERVER_SHUTDOWN_TIMEOUT: "120s",
    });
    server = service.server;
  });

  afterAll(() => service?.close());

  const query = async (text: string) => (await service.database.database.read.$client.query(text)).rows;

  it("A121 serves a registration and a session whose requests reach different workers", async () => {
    const logged = server.logs().length;
    const { client } = await registerUntilPassword(server);
    expect((await client.act("register_password", { new_password: password })).state.name).toBe("success");
    for (let check = 0; check < 2; check += 1)
      expect((await client.request("/sessions/validate")).status).toBe(200);
    await eventually(() => {
      const served = linesOf(server.logs().slice(logged)).filter(({ path }) => path === "/registration");
      expect(served).toHaveLength(4);
      expect(new Set(served.map(({ worker }) => worker)).size).toBe(2);
    });
  });

  it("A113 frees the claim of a worker that is killed in mid-step, and starts another", async () => {
    const { client } = await registerUntilPassword(server);
    const logged = server.logs().length;
    const input = { new_password: password };
    const cut = client.act("register_password", input).catch(() => "cut");
    let claims: { claimed_by: string }[] = [];
    while (claims.length === 0)
      claims = await query("select claimed_by from flows where claimed_by is not null");
    const claimedBy = claims[0]?.claimed_by;
    const serving = linesOf(server.logs()).find(({ instance }) => instance === claimedBy);
    process.kill(serving?.worker ?? 0, "SIGKILL");
    expect(await cut).toBe("cut");
    expect(
      await query("select 1 from users where id in (select user_id from flows where claimed_by is not null)"),
    ).toEqual([]);

    await eventually(async () =>
      expect(await query("select 1 from flows where claimed_by is not null")).toEqual([]),
    );
    expect((await client.act("register_password", input)).state.name).toBe("success");
    await eventually(() => {
      const lines = linesOf(server.logs().slice(logged)).map(({ message }) => message);
      expect(lines).toContain("a worker ended; another one is started");
      expect(lines).toContain("a worker serves");
    });
    expect(await query("select 1 from instances")).toHaveLength(3);
  });

  it("A121 counts the flows that a source starts for all workers together", async () => {
    const headers = { ...turnAbout.headers, "x-forwarded-for": "192.0.2.9" };
    const starts = Array.from({ length: 90 }, () => flowClient(server.url, { headers }).start("login"));
    const statuses = (await Promise.all(starts)).map(({ status }) => status);
    const started = statuses.filter((status) => status === 200).length;
    // Each worker may allow up to one batch minus one that is never reported.
    expect(started).toBeGreaterThanOrEqual(60);
    expect(started).toBeLessThanOrEqual(60 + 2 * 5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90 - started);

    // So many requests at once took every connection that the processes may have, which they keep for a while.
    const [row] = await query(`select count(*)::int as used from pg_stat_activity where application_name = ''
      and datname = current_database() and pid <> pg_backend_pid()`);
    expect(row.used).toBeLessThanOrEqual(3 * 10);
  });

  it("tells a page, by an event stream of one worker, what another was told", async () => {
    const key = await service.stile("keys", "create", "--interface", "authenticator");
    const call = (method: string, path: string, body?: object) =>
      fetch(path.startsWith("http") ? path : `${server.url}/authenticator/v1/uaf/requests${path}`, {
        method,
        headers: {
          ...turnAbout.headers,
          authorization: `secret ${key}`,
          accept: "text/event-stream",
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const created = await call("POST", "", { operation: "REG", userId: "user", username: "user" });
    const { id, links } = (await created.json()) as { id: string; links: { rel: string; href: string }[] };
    const address = links.find(({ rel }) => rel === "events")?.href ?? "";
    // Two, so that one of them is at the other worker.
    const streams = await Promise.all([call("GET", address), call("GET", address)]);
    await call("DELETE", `/${id}`);
    for (const stream of streams) expect(await stream.text()).toMatch(/PENDING.*FAILED/s);
  });

  it("A120 answers the steps of all workers that have begun, then stops", async () => {
    const logged = server.logs().length;
    const before = await query("select 1 from flows where finished_at is not null");
    // One for each worker: a hash that waits for another is refused after some seconds.
    const steps = 2;
    const people = await Promise.all(Array.from({ length: steps }, () => registerUntilPassword(server)));
    const answers = people.map(({ client }) => client.act("register_password", { new_password: password }));
    await eventually(async () => {
      const begun = "select 1 from flows where claimed_by is not null or finished_at is not null";
      expect(await query(begun)).toHaveLength(before.length + steps);
    });
    await server.kill("SIGTERM");
    for (const { state } of await Promise.all(answers)) expect(state.name).toBe("success");
    expect(server.logs().slice(logged)).toContain('"stopped"');
    expect(server.logs().slice(logged)).not.toContain('"aborted"');
    await expect(fetch(`${server.url}/health/alive`)).rejects.toThrow();
    expect(await query("select 1 from instances")).toEqual([]);
  });
});

describe("a server of two workers with the embedded database", () => {
  it("ends its workers when the owner is killed, and continues with the same embedded data", async () => {
    const server = await startServer({ env: environment });
    const { client } = await registerUntilPassword(server);
    const pids = linesOf(server.logs()).flatMap(({ message, worker }) =>
      message === "a worker serves" && worker ? [worker] : [],
    );
    expect(pids).toHaveLength(2);
    await server.kill("SIGKILL");
    for (const pid of pids) await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
    await server.restart();
    expect((await client.act("register_password", { new_password: password })).state.name).toBe("success");
    await server.stop();
  });

  it("prints one line and exits with 1 for a port in use, before it creates the data folder", async () => {
    const other = createServer().listen(0);
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const start = startServer({ env: { ...environment, PORT: String(port) } });
    await expect(start).rejects.toThrow(`stile: port ${port} is already in use`);
    other.close();
  });
});

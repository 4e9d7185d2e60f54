import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { createLocalJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { emit, emitMessage } from "../events/emit.ts";
import { eventually } from "../testing/eventually.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { runStile } from "../testing/stile.ts";
import { insertUser } from "../testing/users.ts";
import { startReceiver } from "../testing/webhook-receiver.ts";
import { commitWrites } from "../testing/writes.ts";

const runtime = await runtimeForTests();
const { options } = runtime.database.write.$client;
const databaseUrl = options.connectionString ?? "";

const environment = () => ({
  NODE_ENV: "development" as const,
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: "a key for tests alone",
  STILE_SESSION_ALGORITHM: "ES256",
});

const stile = (words: string[], live: Parameters<typeof runStile>[2] = {}) =>
  runStile(words, { cwd: process.cwd(), env: environment() }, live);

async function printed(...words: string[]): Promise<string> {
  const { code, out, err } = await stile(words);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
}

const rows = async () => {
  const { rows: counts } = await runtime.database.write.execute<Record<string, number>>(sql`
    select (select count(*)::int from webhooks) as webhooks, (select count(*)::int from events) as events,
      (select count(*)::int from webhook_deliveries) as deliveries,
      (select count(*)::int from webhook_attempts) as attempts`);
  return counts[0];
};

const codeMail = {
  subject: "482913",
  body_plain: "482913",
  body: "<p>482913</p>",
  to_email_address: "ada@example.com",
  delivered_by_hanko: true,
  accept_language: "de",
  language: "de",
  type: "login",
  data: { service_name: "Stile", otp_code: "482913", ttl: 300, valid_until: 4_102_444_800 },
} as const;

const nothing = { webhooks: 0, events: 0, deliveries: 0, attempts: 0 };

test("webhooks are created, listed, tested, rotated, replayed and deleted", async () => {
  const created = JSON.parse(
    await printed(
      "webhooks",
      "create",
      "--callback",
      "https://app.example.com/events",
      "--event",
      "user",
      "--json",
    ),
  );
  expect(created.secret).toMatch(/^whsec_/);
  const { id } = created;
  const listed = JSON.parse(await printed("webhooks", "list", "--json"));
  expect(listed).toEqual([
    { id, callback: "https://app.example.com/events", events: ["user"], enabled: true, failures: 0 },
  ]);
  expect(await printed("webhooks", "list")).not.toContain("whsec_");
  expect(await printed("webhooks", "rotate", id)).not.toBe(created.secret);
  const delivery = await printed("webhooks", "test", id);
  const deliveries = JSON.parse(await printed("webhooks", "deliveries", id, "--json"));
  expect(deliveries).toMatchObject([{ id: delivery, event: "test", state: "waiting", attempts: [] }]);
  expect(await printed("webhooks", "replay", id, "--delivery", delivery)).toBe(
    "0 events are delivered again.",
  );
  await runtime.database.write.execute(sql`update webhook_deliveries set state = 'failed'`);
  expect(
    await printed("webhooks", "replay", id, "--since", "2020-01-01T00:00:00Z", "--failed", "--json"),
  ).toBe('{"deliveries":1}');
  await printed("webhooks", "delete", id);
  expect(await rows()).toEqual(nothing);
});

test.each([
  [["create", "--callback", "https://127.0.0.1/", "--event", "user"], "not public"],
  [
    ["create", "--callback", "https://app.example.com/", "--event", "user.sneeze"],
    "user.sneeze is not an event",
  ],
  [["create", "--callback", "https://app.example.com/"], "--event is missing"],
  [["delete", "1"], "there is no webhook 1"],
  [["rotate", randomUUID()], "there is no webhook"],
  [["rotate", randomUUID(), "--overlap", "soon"], "not a number of seconds"],
  [["test", "config:unknown"], "there is no webhook"],
  [["deliveries", randomUUID()], "there is no webhook"],
  [["deliveries", randomUUID(), "--limit", "101"], "not a number from 1 to 100"],
  [["replay", randomUUID()], "needs --delivery, --flow or --since"],
  [["replay", randomUUID(), "--since", "yesterday"], "yesterday is not a time"],
  [["listen", "--forward", "ftp://localhost/"], "--forward must begin with"],
  [["listen", "--secret", "hidden"], "--secret must be"],
  [["listen", "--event", "user.sneeze"], "is not an event"],
])("webhooks %j is an error of one line", async (words, message) => {
  const { code, err } = await stile(["webhooks", ...words]);
  expect(code).toBeGreaterThan(0);
  expect(err).toContain(message);
  expect(await rows()).toEqual(nothing);
});

test("webhooks listen prints events in their order, forwards them signed, and leaves nothing behind", async () => {
  const receiver = await startReceiver();
  const ending = new AbortController();
  const lines: string[] = [];
  const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  const listening = stile(["webhooks", "listen", "--forward", receiver.url, "--secret", secret, "--json"], {
    interruption: ending.signal,
    print: (line) => void lines.push(line),
  });
  await eventually(async () => expect(await rows()).toMatchObject({ webhooks: 1 }));
  expect(await printed("webhooks", "list", "--json")).toBe("[]");

  const user = await insertUser(runtime);
  for (const name of ["user.create", "user.login", "user.update"] as const)
    await commitWrites(runtime, emit(requestContext(runtime), name, user));
  await commitWrites(runtime, emitMessage(requestContext(runtime), "email.send", randomUUID(), codeMail));
  await eventually(() => expect(receiver.received).toHaveLength(4));
  const names = receiver.received.map(({ event }) => event);
  expect(names.filter((name) => name !== "email.send")).toEqual(["user.create", "user.login", "user.update"]);
  const keys = createLocalJWKSet(await runtime.signingKeys.of(runtime.tenant).jwks());
  for (const { token, body, headers } of receiver.received) {
    expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
    expect((await jwtVerify(token, keys, { typ: "webhook+jwt" })).payload.evt).toBeTruthy();
  }
  await eventually(() => expect(lines).toHaveLength(4));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    event: "user.create",
    data: { id: user },
    forwarded: 204,
  });

  ending.abort();
  expect(await listening).toMatchObject({ code: 0, err: "" });
  expect(await rows()).toEqual(nothing);
  await receiver.close();
});

test("what a killed webhooks listen leaves gets no more events and is purged", async () => {
  const user = await insertUser(runtime);
  await runtime.database.write.execute(sql`
    insert into webhooks (tenant_id, id, callback, is_listener, expires_at, events, sealed_secret)
    values (${runtime.tenant.id}, ${randomUUID()}, '', true, now() + interval '1 hour', '[{"event":"user"}]', '')`);
  await commitWrites(runtime, emit(requestContext(runtime), "user.login", user));
  expect(await rows()).toMatchObject({ events: 1, deliveries: 1 });
  await runtime.database.write.execute(sql`update webhooks set expires_at = now() - interval '1 second'`);
  await commitWrites(runtime, emit(requestContext(runtime), "user.login", user));
  expect(await rows()).toMatchObject({ events: 1, deliveries: 1 });
  await runtime.database.write.execute(sql`
    with d as (update webhook_deliveries set state = 'delivered', attempts = 1 returning *)
    insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms)
    select tenant_id, id, 1, now(), 1 from d`);
  await runtime.purgeExpired();
  expect(await rows()).toEqual(nothing);
});

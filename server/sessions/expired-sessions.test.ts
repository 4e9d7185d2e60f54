import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { schema } from "#db/client";
import { createUser } from "../identity/users.ts";
import { storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { insertUser } from "../testing/users.ts";
import { commitWrites } from "../testing/writes.ts";
import { endExpiredSessions } from "./expired-sessions.ts";

const runtime = await runtimeForTests();
await storeWebhook(runtime, ["session"]);

const { events, sessions, tenants } = schema;

beforeEach(async () => {
  await runtime.database.write.delete(sessions);
  await runtime.database.write.delete(events);
});

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

async function session(times: { expiresAt: Date; lastUsedAt: Date }, tenantId = runtime.tenant.id) {
  const [id, userId] = [randomUUID(), randomUUID()];
  const { platform } = runtime;
  await commitWrites(runtime, (tx) => createUser(tx, tenantId, { id: userId, now: new Date(), platform }));
  const row = { tenantId, id, userId, factors: [], amr: [], authenticatedAt: ago(600), ...times };
  await runtime.database.write.insert(sessions).values(row);
  return id;
}

const remaining = async () => (await runtime.database.read.select().from(sessions)).map(({ id }) => id);

const told = async (of = runtime) => (await storedEvents(of)).map(({ name, data }) => [name, data?.id]);

it("ends the sessions that have expired, and tells of each once", async () => {
  const live = await session({ expiresAt: ago(-1), lastUsedAt: ago(300) });
  const expired = await session({ expiresAt: ago(1), lastUsedAt: ago(300) });

  const ended = await Promise.all(Array.from({ length: 5 }, () => endExpiredSessions(runtime)));

  expect(ended.reduce((sum, count) => sum + count)).toBe(1);
  expect(await remaining()).toEqual([live]);
  expect(await told()).toEqual([["session.delete.passive.expire", expired]]);
});

it("ends the sessions that were idle for longer than the limit of their tenant", async () => {
  const limited = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
  const other = randomUUID();
  const config = { session: { idle_timeout: "2h" } };
  await runtime.database.write.insert(tenants).values({ id: other, name: "Other", config });
  await storeWebhook(runtime, ["session"], { tenantId: other });
  const expiresAt = ago(-60);
  const [used, idle] = [
    await session({ expiresAt, lastUsedAt: ago(9) }),
    await session({ expiresAt, lastUsedAt: ago(11) }),
  ];
  const usedThere = await session({ expiresAt, lastUsedAt: ago(119) }, other);
  const idleThere = await session({ expiresAt, lastUsedAt: ago(121) }, other);

  expect(await endExpiredSessions(limited)).toBe(2);

  expect((await remaining()).sort()).toEqual([used, usedThere].sort());
  expect(await told()).toEqual([["session.delete.passive.expire", idle]]);
  const there = { ...limited, tenant: { ...limited.tenant, id: other } };
  expect(await told(there)).toEqual([["session.delete.passive.expire", idleThere]]);
});

it("ends more sessions than one transaction holds, those of a tenant with invalid settings too", async () => {
  const broken = randomUUID();
  const config = { session: { idle_timeout: "soon" } };
  await runtime.database.write.insert(tenants).values({ id: broken, name: "Broken", config });
  await session({ expiresAt: ago(1), lastUsedAt: ago(1) }, broken);
  const userId = await insertUser(runtime);
  const rows = Array.from({ length: 1_200 }, () => ({
    tenantId: runtime.tenant.id,
    id: randomUUID(),
    userId,
    factors: [],
    amr: [],
    authenticatedAt: ago(600),
    lastUsedAt: ago(2),
    expiresAt: ago(1),
  }));
  await runtime.database.write.insert(sessions).values(rows);

  expect(await endExpiredSessions(runtime)).toBe(1_201);

  expect(await remaining()).toEqual([]);
  expect(await told()).toHaveLength(1_200);
  await runtime.database.write.delete(tenants).where(eq(tenants.id, broken));
});

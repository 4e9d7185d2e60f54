import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { heavyRead } from "../../database/heavy-reads.ts";
import { OverloadedError } from "../../lib/overloaded-error.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);
const other = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
);

test.each([
  ["statistics", "/statistics"],
  ["audit log", "/audit_logs"],
])("slow reads of the %s by one tenant leave connections to the others", async (_, path) => {
  const { write, read } = runtime.database;
  const size = read.$client.options.max;
  const calls: Promise<{ status: number }>[] = [];
  await write.transaction(async (tx) => {
    // The reads last until the end of this transaction.
    await tx.execute(sql`lock table audit_logs in access exclusive mode`);
    for (let each = 0; each < 3 * size; each += 1) calls.push(other.call("GET", path));
    await eventually(async () => {
      const { rows } = await tx.execute(sql`select from pg_locks where not granted`);
      expect(rows.length).toBeGreaterThan(0);
    });
    expect((await operator.call("GET", `/users/${randomUUID()}`)).status).toBe(404);
  });
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
});

/** Adds heavy reads until one is rejected, and returns its error. */
async function heavyReads(
  read: typeof runtime.database.read,
  task: Promise<void>,
  reads: Promise<unknown>[],
) {
  let rejection: unknown = null;
  while (rejection === null) {
    reads.push(heavyRead(read, () => task).catch((error: unknown) => (rejection = error)));
    await new Promise(setImmediate);
  }
  return rejection;
}

test("an export of the audit log that has begun waits for its turn, however many other reads wait", async () => {
  const { read, write } = runtime.database;
  const row = { tenantId: other.tenant.id, type: "user_blocked", details: {}, createdAt: new Date(0) };
  const rows = Array.from({ length: 600 }, () => ({ ...row, id: randomUUID() }));
  await write.insert(schema.auditLogs).values(rows);
  const answer = await visitor(runtime).request(
    `/t/${other.tenant.id}/admin/audit_logs/export?type=user_blocked`,
    { headers: { authorization: `Bearer ${other.key}` } },
  );
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  // Every place to run and to wait is taken.
  let end = () => {};
  const busy = new Promise<void>((resolve) => (end = resolve));
  const others: Promise<unknown>[] = [];
  expect(await heavyReads(read, busy, others)).toBeInstanceOf(OverloadedError);
  let next: unknown = "waits";
  const second = reader?.read().then((part) => (next = part));
  await new Promise(setImmediate);
  expect(next).toBe("waits");
  end();
  await second;
  await Promise.all(others);
  const lines = [first, next].map((part) => new TextDecoder().decode((part as { value: Uint8Array }).value));
  expect(lines.join("").trim().split("\n")).toHaveLength(600);
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});

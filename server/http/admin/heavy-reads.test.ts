import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { eventually } from "../../testing/eventually.ts";
import { testRuntime } from "../../testing/runtime.ts";

const runtime = await testRuntime();
afterAll(() => runtime.close());
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

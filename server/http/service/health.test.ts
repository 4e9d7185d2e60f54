import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "#db/client";
import { createApiKey } from "../../tenants/api-keys.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

let runtime: TestRuntime;
let key: string;
beforeAll(async () => {
  runtime = await testRuntime();
  ({ key } = await createApiKey(runtime, runtime.tenant, { interface: "admin", name: "health" }));
});
afterAll(() => runtime.close());

async function ready(authorization?: string): Promise<[number, unknown]> {
  const headers = authorization === undefined ? {} : { authorization };
  const response = await visitor(runtime).request("/health/ready", { headers });
  return [response.status, await response.json()];
}

test("readiness tells callers with a key whether mails are accepted, and stays 200", async () => {
  expect(await ready(`Bearer ${key}`)).toEqual([200, { ready: true, mail: "ok" }]);
  const since = new Date("2030-01-31T12:00:00.000Z");
  const lastFailedAt = new Date("2030-01-31T12:05:00.000Z");
  await runtime.database.write
    .insert(schema.mailOutages)
    .values({ tenantId: runtime.tenant.id, since, lastFailedAt, failure: "ECONNREFUSED" });
  expect(await ready(`Bearer ${key}`)).toEqual([
    200,
    {
      ready: true,
      mail: "failing since 2030-01-31T12:00:00.000Z",
      mail_failure: "ECONNREFUSED",
      mail_last_failed_at: "2030-01-31T12:05:00.000Z",
    },
  ]);
});

test("readiness tells of SMS too, if accounts may have telephone numbers", async () => {
  await runtime.database.write.delete(schema.mailOutages);
  const withNumbers = runtime.configured({ STILE_PHONE_ENABLED: "true" });
  const answer = async () => {
    const headers = { authorization: `Bearer ${key}` };
    return (await visitor(withNumbers).request("/health/ready", { headers })).json();
  };
  expect(await answer()).toEqual({ ready: true, mail: "ok", sms: "ok" });
  const at = new Date("2030-01-31T12:00:00.000Z");
  await runtime.database.write
    .insert(schema.smsOutages)
    .values({ tenantId: runtime.tenant.id, since: at, lastFailedAt: at, failure: "503" });
  expect(await answer()).toEqual({
    ready: true,
    mail: "ok",
    sms: "failing since 2030-01-31T12:00:00.000Z",
    sms_failure: "503",
    sms_last_failed_at: "2030-01-31T12:00:00.000Z",
  });
});

test("A160 readiness tells nothing of mails without a key, or with one of another kind or tenant", async () => {
  const other = await createTenant(runtime, { name: "Other", hosts: [], settings: {} });
  const passkeys = await createApiKey(runtime, runtime.tenant, { interface: "passkeys", name: "" });
  const foreign = await createApiKey(
    runtime,
    { id: other.id, config: runtime.config },
    { interface: "admin", name: "" },
  );
  const wrong = `stile_${"x".repeat(43)}`;
  for (const authorization of [
    undefined,
    "",
    "Bearer",
    `Basic ${key}`,
    `Bearer ${wrong}`,
    `Bearer ${passkeys.key}`,
    `Bearer ${foreign.key}`,
  ])
    expect(await ready(authorization)).toEqual([200, { ready: true }]);
});

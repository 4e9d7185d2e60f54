import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

const secret = "a secret for the scheduler";

const runtime = await runtimeForTests({ STILE_JOBS_SECRET: secret });

const ask = (of: TestRuntime, authorization?: string, path = "/api/jobs") =>
  visitor(of).request(path, authorization === undefined ? {} : { headers: { authorization } });

test("runs due jobs with the secret, with the scheme in any case", async () => {
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    const response = await ask(runtime, `${scheme} ${secret}`);
    expect([response.status, await response.json()]).toEqual([200, { done: 0, delivered: 0, purged: 0 }]);
  }
});

test("accepts the secret of the platform's scheduler beside it, and alone", async () => {
  const cron = "a secret that the platform has made";
  const both = runtime.configured({ CRON_SECRET: cron });
  const alone = runtime.configured({ CRON_SECRET: cron, STILE_JOBS_SECRET: "" });
  const statuses = [await ask(both, `Bearer ${cron}`), await ask(both, `Bearer ${secret}`)];
  expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  expect((await ask(alone, `Bearer ${cron}`)).status).toBe(200);
  expect((await ask(alone, `Bearer ${secret}`)).status).toBe(401);
});

test.each([
  ["nothing", undefined],
  ["another secret", "Bearer a secret for the schedules"],
  ["the beginning of the secret", `Bearer ${secret.slice(0, -1)}`],
  ["the secret and more", `Bearer ${secret}x`],
  ["the secret in other case", `Bearer ${secret.toUpperCase()}`],
  ["the secret twice", `Bearer ${secret}, Bearer ${secret}`],
  ["the secret alone", secret],
  ["another scheme", `secret ${secret}`],
  ["two spaces", `Bearer  ${secret}`],
])("A67 answers %s with 401", async (_, authorization) => {
  const response = await ask(runtime, authorization);
  expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  expect(await response.text()).not.toContain(secret);
});

test("A67 rejects the secret in the address", async () => {
  const query = new URLSearchParams({ secret, access_token: secret });
  expect((await ask(runtime, undefined, `/api/jobs?${query}`)).status).toBe(401);
});

test("A67 is not found without a configured secret", async () => {
  const without = runtime.configured({ STILE_JOBS_SECRET: "" });
  for (const authorization of [undefined, "Bearer ", `Bearer ${secret}`])
    expect((await ask(without, authorization)).status).toBe(404);
});

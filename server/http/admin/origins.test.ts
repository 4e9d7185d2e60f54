import { expect, test } from "vitest";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";
import { adminAddresses } from "./addresses.ts";

const origin = "https://app.example.com";
const runtime = await runtimeForTests({ STILE_CORS_ALLOW_ORIGINS: origin });
const operator = await adminOperator(runtime);
const { request } = visitor(runtime);

const corsHeadersOf = (answer: { headers: Headers }) =>
  [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"));

test("A38 no address of the administration interface allows an origin, not even one that flows allow", async () => {
  const preflight = { origin, "access-control-request-method": "GET" };
  const flow = await request("/login", { method: "OPTIONS", headers: preflight });
  expect(corsHeadersOf(flow)).toContain("access-control-allow-origin");
  const paths = adminAddresses.map(({ path }) => path.replaceAll(/[{}]/g, ""));
  for (const path of [...new Set(paths), "/admin/unknown"]) {
    const headers = { ...preflight, "access-control-request-headers": "authorization" };
    const answer = await request(path, { method: "OPTIONS", headers });
    expect([path, corsHeadersOf(answer)]).toEqual([path, []]);
  }
});

test("A38 an answer of the administration interface cannot be read by a page of another origin", async () => {
  const headers = { origin, authorization: `Bearer ${operator.key}` };
  for (const [path, key] of [
    ["/users", headers.authorization],
    ["/users", "Bearer wrong"],
    ["/users/no-id", headers.authorization],
    ["/unknown", headers.authorization],
    ["/audit_logs/export", headers.authorization],
  ] as const) {
    const answer = await request(`/admin${path}`, { headers: { ...headers, authorization: key } });
    expect([path, answer.status, corsHeadersOf(answer)]).toEqual([path, answer.status, []]);
  }
});

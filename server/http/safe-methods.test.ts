import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { restRegistration } from "../testing/rest-walk.ts";
import { visitor } from "../testing/visitor.ts";
import { addresses } from "./addresses.ts";

const runtime = await runtimeForTests({ STILE_JOBS_SECRET: "a secret for the scheduler" });

/** A digest of every row of every table, except of the leases: readiness is a write to that of the process itself. */
async function everything(): Promise<Record<string, string>> {
  const { $client } = runtime.database.read;
  const tables = await $client.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename <> 'instances' order by 1",
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables.rows) {
    const { rows } = await $client.query(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from ${name} t`,
    );
    digests[name] = rows[0].digest;
  }
  return digests;
}

test("A37 GET, HEAD and OPTIONS change nothing at any address", async () => {
  // From this machine, so that development addresses answer as well.
  const browser = visitor(runtime, "127.0.0.1");
  const { visitor: registered, state } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  for (const [name, value] of registered.cookies) browser.cookies.set(name, value);
  await browser.mutate("flow.start", { type: "login" });
  const { id } = runtime.tenant;
  expect([...browser.cookies.keys()]).toEqual(["service", `stile-marks-${id}`, `stile-login-${id}`]);

  const { subject } = state.payload.claims as { subject: string };
  const paths = [...new Set(addresses.map(({ path }) => path))].map((path) =>
    path
      .replace("{id}", subject)
      .replace("{procedure}", "flow.act")
      .replace("{tenant_id}", runtime.tenant.id)
      .replace("{user_id}", subject)
      .replace("{credential_id}", "AAAA"),
  );
  // The signing keys are created on first use.
  await runtime.signingKeys.of(runtime.tenant, "passkeys").ready;
  // What the requests so far have caused is written after their answers.
  await Promise.all([runtime.recorder.flush(), runtime.counters.flush()]);
  const before = await everything();
  expect(Object.keys(before)).toEqual(expect.arrayContaining(["flows", "sessions", "users"]));
  const query = new URLSearchParams({ action: `back@${randomUUID()}`, input: '{"type":"login"}' });
  const statuses: number[] = [];
  const closed: string[] = [];
  for (const path of paths)
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      // Rejects parameters that it does not know.
      const suffix = path === "/forward-auth" ? "" : `?${query}`;
      const { status } = await browser.request(path + suffix, { method });
      if (status === 403 || status === 404) closed.push(path);
      else statuses.push(status);
    }
  // 400: the page of a mailed link, without a token. 410: the way of an operator to a user, without one.
  expect(new Set(statuses)).toEqual(new Set([200, 204, 303, 400, 401, 405, 410]));
  // Disabled features, the default theme, which has no files, and files that do not exist.
  expect([...new Set(closed)].sort()).toEqual([
    "/.well-known/apple-app-site-association",
    "/.well-known/assetlinks.json",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
    "/.well-known/security.txt",
    "/.well-known/webauthn",
    "/api/console/preview",
    "/api/console/provider-test/{test_id}",
    "/assets/{file}",
    "/oauth/authorize",
    "/oauth/authorize/{request}",
    "/oauth/logout",
    "/oauth/logout/applications",
    "/oauth/userinfo",
    "/saml/auth",
    "/saml/logout",
    "/saml/metadata",
    "/theme/{version}/{file}",
    "/thirdparty/test",
    "/users/pictures/{picture}",
  ]);
  expect(await everything()).toEqual(before);
});

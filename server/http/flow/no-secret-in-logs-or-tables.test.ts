import { createHash, randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../observability/logger.ts";
import { createListener, type Listener } from "../../start/listener.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { mailedCode, mailedLink } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { loggablePath } from "../addresses.ts";
import { dispatch } from "../dispatch.ts";

let runtime: TestRuntime;
let listener: Listener;
let baseUrl: string;
let logged = "";

beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  });
  const log = createLogger("debug", sink);
  runtime = { ...(await testRuntime({ STILE_EMAIL_LINKS: "true" })), log };
  listener = createListener({
    log,
    trustedProxies: [],
    errorHeaders: {},
    sendTimeoutMs: 60_000,
    destinations: Promise.resolve({
      api: (request, info) => dispatch(request, info, runtime),
      loggable: loggablePath,
      pages: async () => new Response(),
    }),
  });
  baseUrl = `http://127.0.0.1:${await listener.listen(0)}`;
});

afterAll(async () => {
  await listener.close(0);
  await runtime.close();
});

/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const { $client } = runtime.database.read;
  const tables = await $client.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await $client.query<{ text: string }>(`select t::text as text from ${name} t`);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join("\n");
}

test("A110 A301 neither logs nor tables contain secrets after successful and failed sign-ins", async () => {
  const email = `${randomUUID()}@example.com`;
  const password = `secret-${randomUUID()}`;
  const wrong = `wrong-${randomUUID()}`;
  const client = flowClient(baseUrl);
  const secrets = new Set([password, wrong]);
  const act = async (action: string, input: Record<string, unknown> = {}) => {
    await client.act(action, input);
    secrets.add(client.last.state.csrf_token);
  };

  await client.start("registration");
  secrets.add(client.state.csrf_token);
  await act("register_client_capabilities");
  await act("register_login_identifier", { email });
  const codes = [mailedCode(runtime, email)];
  const link = mailedLink(runtime, email);
  secrets.add(link.searchParams.get("token") ?? "");
  await client.request(link.pathname + link.search);
  await client.request(`${link.pathname}?token=${link.search.slice(-20)}`);
  await act("verify_passcode", { code: codes[0] });
  await act("register_password", { new_password: wrong.slice(0, 7) });
  // An unfinished registration stores the hash of the password only.
  await act("register_password", { new_password: password });
  expect(client.state.name).toBe("success");

  await client.start("login");
  await act("register_client_capabilities");
  // The browser has just registered with a password, so it is asked for that.
  await act("continue_with_login_identifier", { email });
  await act("password_login", { password: wrong });
  await act("continue_to_passcode_confirmation_recovery");
  codes.push(mailedCode(runtime, email));
  await client.attempt(
    "verify_passcode",
    {},
    { body: `{"csrf_token":"x","input_data":{"code":"${codes[1]}"` },
  );
  await act("back");
  await act("password_login", { password });
  expect(client.state.name).toBe("success");
  const session = client.cookies.get("service") ?? "";
  secrets.add(session).add(session.split(".")[2] ?? "");
  await client.request("/sessions/validate", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ session_token: session }),
  });
  await client.request("/me", { headers: { authorization: `Bearer ${session}` } });

  await runtime.recorder.flush();
  const stored = await everything();
  expect(stored).toContain(email);
  expect(logged).toContain('"path":"/login"');
  expect(logged).not.toContain(email);
  expect(secrets.size).toBeGreaterThan(12);
  for (const secret of secrets) {
    if (secret === "") continue;
    expect(stored).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
  for (const code of codes) {
    expect(stored).not.toMatch(new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`));
    expect(logged).not.toMatch(new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`));
  }
  const recorded = await recordedFlows();
  expect(recorded).toContain('"action":"password_login"');
  const digests = ["sha256", "sha1", "md5"].flatMap((name) =>
    [...secrets, ...codes].flatMap((secret) =>
      (["hex", "base64", "base64url"] as const).map((form) => createHash(name).update(secret).digest(form)),
    ),
  );
  for (const value of [...secrets, ...codes, ...digests, email, email.split("@")[0] ?? ""])
    if (value !== "") expect(recorded).not.toContain(value);
});

/** What is recorded of all flows, as the tables have it and as the administration interface answers. */
async function recordedFlows(): Promise<string> {
  const { $client } = runtime.database.read;
  const operator = await adminOperator(runtime);
  const { rows } = await $client.query<{ id: string; text: string }>(
    "select id, f::text as text from recorded_flows f",
  );
  const steps = await $client.query<{ text: string }>("select s::text as text from recorded_steps s");
  const lists = await operator.call("GET", "/flows?per_page=100");
  const answers = await Promise.all(rows.map(({ id }) => operator.call("GET", `/flows/${id}`)));
  return [...rows, ...steps.rows, lists, ...answers].map(({ text }) => text).join("\n");
}

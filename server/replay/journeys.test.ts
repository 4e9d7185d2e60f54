import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import { codesBySms, smsSettings } from "../testing/journeys/codes-by-sms.ts";
import { journeys } from "../testing/journeys/index.ts";
import { complete, type Fixtures, newPerson } from "../testing/journeys/journey.ts";
import { startProviders } from "../testing/journeys/settings.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { freePort, type RunningServer, startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";
import { type Bundle, readBundle } from "./bundle.ts";
import { replay } from "./replay.ts";

/** Every journey of users on a running server, exported and performed again. */

let databaseUrl: string;
let server: RunningServer;
let fixtures: Fixtures;
let closeProviders: () => Promise<void>;
let headers: Record<string, string>;

/** Values that users and their browsers have sent, or were given to keep. */
const values = new Set<string>();

const query = (text: string, parameters: unknown[] = []) =>
  withClient(databaseUrl, async (client) => (await client.query(text, parameters)).rows);

/** Bundles by the journeys that they were recorded of. */
const bundles: { id: string; type: string; text: string }[] = [];

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length >= 5 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Lets a client note what it sends, and the tokens and cookies that it holds. */
function noting(client: FlowClient): FlowClient {
  const act: FlowClient["act"] = client.act;
  client.act = async (action, input = {}) => {
    for (const text of [client.state.csrf_token, ...textsIn(input)]) values.add(text);
    const answer = await act(action, input);
    for (const [, cookie] of client.cookies) values.add(cookie);
    for (const text of textsIn(answer.state.payload.recovery_codes ?? [])) values.add(text);
    return answer;
  };
  return client;
}

beforeAll(async () => {
  const { adminUrl, ownerUrl } = inject("postgres");
  const name = `replay_${randomUUID().replaceAll("-", "")}`;
  await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
  databaseUrl = ownerUrl.replace(/[^/]+$/, name);
  const origin = `http://localhost:${await freePort()}`;
  const { settings, close, ...providers } = await startProviders(origin);
  closeProviders = close;
  server = await startServer({
    env: {
      ...settings,
      ...smsSettings,
      DATABASE_URL: databaseUrl,
      STILE_SERVER_HOSTS: "localhost",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  const at = { cwd: server.folder, env: server.environment };
  const keyOf = async (of: string) => (await runStile(["keys", "create", "--interface", of], at)).out.trim();
  headers = { authorization: `Bearer ${await keyOf("admin")}` };
  fixtures = { ...providers, origin, query, authenticatorKey: await keyOf("authenticator") };

  for (const journey of [...journeys, ...codesBySms]) {
    const person = newPerson();
    const client = noting(flowClient(server.url));
    await journey.prepare?.({ server, client, person, fixtures });
    await complete(journey, { client, person, fixtures });
    for (const text of [person.email, person.phoneNumber, person.totpSecret, ...person.usedCodes])
      if (text) values.add(text);
  }
  // Steps are written in their order: when those of a flow that begins now are there, so are all before it.
  const [{ at: begun }] = (await query("select clock_timestamp() as at")) as [{ at: Date }];
  await flowClient(server.url).start("login");
  const isWritten = () => query("select from recorded_flows where started_at >= $1", [begun]);
  await eventually(async () => expect(await isWritten()).toHaveLength(1));
  for (const { id, type } of await query("select id, type from recorded_flows order by started_at")) {
    const answer = await fetch(`${server.url}/admin/flows/${id}/bundle`, { headers });
    const text = await answer.text();
    expect([type, answer.status, answer.status === 200 ? "" : text]).toEqual([type, 200, ""]);
    bundles.push({ id, type, text });
  }
}, 240_000);

afterAll(async () => {
  await server?.stop();
  await closeProviders?.();
});

const bundleIn = (text: string): Bundle => {
  const read = readBundle(JSON.parse(text));
  if ("fault" in read) throw new Error(read.fault);
  return read.bundle;
};

test("each journey, performed again by this version, does not differ", async () => {
  expect(new Set(bundles.map(({ type }) => type))).toEqual(
    new Set(["login", "registration", "profile", "token_exchange"]),
  );
  for (const { id, text } of bundles) {
    const { first, steps } = await replay(bundleIn(text));
    expect([id, first, steps.at(-1)?.now?.state]).toEqual([id, null, steps.at(-1)?.recorded.state]);
  }
});

test("A343 no bundle has what users and browsers sent, an id, an address, a network, a host or a secret", async () => {
  const ids = (await query("select id::text from users union select id::text from sessions")).map(
    ({ id }) => id,
  );
  const settings = Object.values(server.environment).filter((value) => value && value.length >= 8);
  const own = [fixtures.origin, "localhost", "127.0.0", new URL(fixtures.origin).port, databaseUrl];
  // Names of the protocol, and words that are settings too.
  const isName = (text: string) => /^[a-z_-]+$/.test(text) || /^\d{1,4}$/.test(text);
  const secrets = [...values, ...ids, ...settings, ...own].map(String).filter((text) => !isName(text));
  expect(secrets.length).toBeGreaterThan(300);
  const all = bundles.map(({ text }) => text).join("\n");
  // The port of the service is a setting.
  const port = `"port":${new URL(server.url).port}`;
  const found = secrets.filter((text) =>
    /^\d+$/.test(text)
      ? new RegExp(`(?<![0-9a-z.-])${text}(?![0-9a-z.-])`).test(all.replaceAll(port, ""))
      : all.includes(text),
  );
  expect(found).toEqual([]);
});

test("what a step was decided by takes less than a third of its row", async () => {
  const [size] = await query(
    `select avg(pg_column_size(s)) as row, avg(length(decided_by)) as decided,
      max(length(decided_by)) as most from recorded_steps s where decided_by is not null`,
  );
  expect(Number(size?.decided)).toBeLessThan(Number(size?.row) / 3);
  expect(Number(size?.most)).toBeLessThan(500);
  const [settings] = await query(
    "select count(*) as versions, max(length(settings)) as bytes from recorded_settings",
  );
  expect(settings).toMatchObject({ versions: "1" });
  expect(Number(settings?.bytes)).toBeLessThan(8_000);
});

test("the commands export a flow, and perform a folder of bundles again", async () => {
  const at = { cwd: server.folder, env: server.environment };
  const folder = mkdtempSync(join(tmpdir(), "stile-bundles-"));
  const factor = bundles.find(
    ({ text }) => text.includes('"state":"login_otp"') && text.includes('"type":"login"'),
  );
  const exported = await runStile(["flow", "export", factor?.id ?? ""], at);
  expect(JSON.parse(exported.out)).toEqual(JSON.parse(factor?.text ?? ""));
  const file = join(folder, "factor.json");
  writeFileSync(file, exported.out);
  for (const { id, text } of bundles.slice(0, 3)) writeFileSync(join(folder, `${id}.json`), text);

  const same = await runStile(["flow", "replay", file], at);
  expect([same.code, same.out.trim()]).toEqual([0, expect.stringMatching(/^no difference in \d+ steps$/)]);
  const all = await runStile(["flow", "replay", "--all", folder], at);
  expect([all.code, all.out.trim().split("\n").length]).toEqual([0, 4]);

  const config = join(folder, "changed.config");
  writeFileSync(config, JSON.stringify({ mfa: { enabled: false } }));
  const other = await runStile(["flow", "replay", file, "--config", config], at);
  expect(other.code).toBe(1);
  expect(other.out).toContain("leads to");
  expect(other.out).toContain("setting mfa.enabled: true before, false now");
  writeFileSync(join(folder, "broken.json"), "{");
  const broken = await runStile(["flow", "replay", "--all", folder], at);
  expect(broken.code).toBe(1);
  expect(broken.out).toContain("broken.json: ");
  expect((await runStile(["flow", "replay", join(folder, "none.json")], at)).code).toBe(1);
  expect((await runStile(["flow", "replay"], at)).code).toBe(2);
  expect((await runStile(["flow", "export", randomUUID()], at)).code).toBe(1);
});

import { createHash, randomUUID } from "node:crypto";
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

/** Every journey of users on a running server, and what its recorder keeps of them. */

let databaseUrl: string;
let server: RunningServer;
let fixtures: Fixtures;
let adminKey: string;
let closeProviders: () => Promise<void>;

/** Values that users and their browsers have sent, or were given to keep. */
const values = new Set<string>();
let performed = 0;

const query = (text: string, parameters: unknown[] = []) =>
  withClient(databaseUrl, async (client) => (await client.query(text, parameters)).rows);

beforeAll(async () => {
  const { adminUrl, ownerUrl } = inject("postgres");
  const name = `recorder_${randomUUID().replaceAll("-", "")}`;
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
  adminKey = await keyOf("admin");
  fixtures = { ...providers, origin, query, authenticatorKey: await keyOf("authenticator") };
});

afterAll(async () => {
  await server?.stop();
  await closeProviders?.();
});

/** Texts in a value of JSON that are long enough to be told from others. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length >= 5 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Lets a client note what it sends, and the tokens and cookies that it holds. */
function noting(client: FlowClient): FlowClient {
  const act: FlowClient["act"] = client.act;
  client.act = async (action, input = {}) => {
    performed += 1;
    values.add(client.state.csrf_token);
    for (const text of textsIn(input)) values.add(text);
    const answer = await act(action, input);
    for (const [, cookie] of client.cookies) values.add(cookie);
    for (const text of textsIn(answer.state.payload.recovery_codes ?? [])) values.add(text);
    return answer;
  };
  return client;
}

/** Names of the protocol, which are values of some inputs too. */
const isName = (text: string) => /^[a-z_]+$/.test(text);

test("A301 no journey leaves a value in the tables of the recorder, in the log and in what operators are answered", async () => {
  for (const journey of [...journeys, ...codesBySms]) {
    const person = newPerson();
    const client = noting(flowClient(server.url));
    await journey.prepare?.({ server, client, person, fixtures });
    await complete(journey, { client, person, fixtures });
    values
      .add(person.email)
      .add(person.phoneNumber)
      .add(person.totpSecret ?? "");
    for (const code of person.usedCodes) values.add(code);
  }
  const count = async () => Number((await query("select count(*) as steps from recorded_steps"))[0]?.steps);
  await eventually(async () => expect(await count()).toBeGreaterThan(performed));

  const headers = { authorization: `Bearer ${adminKey}` };
  const answers: string[] = [];
  for (const { id } of await query("select id from recorded_flows"))
    answers.push(await (await fetch(`${server.url}/admin/flows/${id}`, { headers })).text());
  answers.push(await (await fetch(`${server.url}/admin/flows?per_page=100`, { headers })).text());
  const rows = await query(
    "select f::text as text from recorded_flows f union all select s::text from recorded_steps s",
  );
  const stored = rows.map(({ text }) => text).join("\n");
  const shown = answers.join("\n");
  expect(shown).toContain('"action":"password_login"');

  // Where an identity provider leads back to is the address of the service.
  const isOwn = (text: string) => text === fixtures.origin || isName(text);
  const secrets = [...values].filter((text) => text.length >= 5 && !isOwn(text));
  expect(secrets.length).toBeGreaterThan(200);
  // Digits may be part of an id or of a time.
  const isIn = (text: string, within: string) =>
    /^\d{5,8}$/.test(text)
      ? new RegExp(`(?<![0-9a-f.-])${text}(?![0-9a-f.-])`).test(within)
      : within.includes(text);
  const found = secrets.filter((text) => isIn(text, stored) || isIn(text, shown));
  expect(found).toEqual([]);
  const digests = secrets.flatMap((text) =>
    ["sha256", "sha1", "md5"].flatMap((name) =>
      (["hex", "base64", "base64url"] as const).map((form) => createHash(name).update(text).digest(form)),
    ),
  );
  expect(digests.filter((digest) => stored.includes(digest) || shown.includes(digest))).toEqual([]);
  const log = server.logs();
  expect(secrets.filter((text) => !/^\d+$/.test(text) && log.includes(text))).toEqual([]);
});

test("the row of a step is shorter than a kilobyte, but for some of the account page", async () => {
  const [size] = await query(`select max(pg_column_size(s)) as longest, avg(pg_column_size(s)) as average,
    max(pg_column_size(s)) filter (where state <> 'profile_init') as others from recorded_steps s`);
  expect(Number(size?.longest)).toBeGreaterThan(100);
  expect(Number(size?.longest)).toBeLessThan(1_200);
  expect(Number(size?.others)).toBeLessThan(1_000);
  expect(Number(size?.average)).toBeLessThan(600);
});

test("each reason that is shown has a sentence of this version", async () => {
  const headers = { authorization: `Bearer ${adminKey}` };
  const names = new Set<string>();
  for (const { id } of await query("select id from recorded_flows")) {
    const answer = await fetch(`${server.url}/admin/flows/${id}`, { headers });
    const { path } = (await answer.json()) as {
      path: { not_offered: Record<string, { reasons: { name: string; sentence: string }[] }[]> }[];
    };
    for (const { not_offered } of path)
      for (const { reasons } of Object.values(not_offered).flat()) {
        expect(reasons).not.toEqual([]);
        for (const { name, sentence } of reasons) if (name === sentence) names.add(name);
      }
  }
  expect([...names]).toEqual([]);
});

import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { type WalkedServer, walkJourneys } from "../testing/journeys/walk-journeys.ts";

/** Every journey of users on a running server, and what its recorder keeps of them. */

let walked: WalkedServer;

beforeAll(async () => {
  walked = await walkJourneys();
});

afterAll(() => walked?.stop());

/** Names of the protocol, which are values of some inputs too. */
const isName = (text: string) => /^[a-z_]+$/.test(text);

test("A301 no journey leaves a value in the tables of the recorder, in the log and in what operators are answered", async () => {
  const { server, query, fixtures, adminHeaders: headers, values, performed } = walked;
  const count = async () => Number((await query("select count(*) as steps from recorded_steps"))[0]?.steps);
  await eventually(async () => expect(await count()).toBeGreaterThan(performed));

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
  const [size] =
    await walked.query(`select max(pg_column_size(s)) as longest, avg(pg_column_size(s)) as average,
    max(pg_column_size(s)) filter (where state <> 'profile_init') as others from recorded_steps s`);
  expect(Number(size?.longest)).toBeGreaterThan(100);
  expect(Number(size?.longest)).toBeLessThan(1_200);
  expect(Number(size?.others)).toBeLessThan(1_000);
  expect(Number(size?.average)).toBeLessThan(600);
});

test("each reason that is shown has a sentence of this version", async () => {
  const { server, query, adminHeaders: headers } = walked;
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

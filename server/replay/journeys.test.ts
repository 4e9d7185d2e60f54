import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { type WalkedServer, walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { runStile } from "../testing/stile.ts";
import { type Bundle, readBundle } from "./bundle.ts";
import { replay } from "./replay.ts";

/** Every journey of users on a running server, exported and performed again. */

let walked: WalkedServer;

/** Bundles by the journeys that they were recorded of. */
const bundles: { id: string; type: string; text: string }[] = [];

beforeAll(async () => {
  walked = await walkJourneys();
  const { server, query, adminHeaders: headers } = walked;
  // Steps are written in their order: when those of a flow that begins now are there, so are all before it.
  const [{ at: begun }] = (await query("select clock_timestamp() as at")) as [{ at: Date }];
  await flowClient(server.url).start("login");
  const isWritten = () => query("select from recorded_flows where started_at >= $1", [begun]);
  await eventually(async () => expect(await isWritten()).toHaveLength(1));
  for (const { id, type } of await query("select id, type from recorded_flows order by started_at")) {
    const answer = await fetch(`${server.url}/admin/flows/${id}/bundle`, { headers });
    const text = await answer.text();
    expect([type, answer.status, answer.status === 200 ? "" : text]).toEqual([type, 200, ""]);
    bundles.push({ id: String(id), type: String(type), text });
  }
});

afterAll(() => walked?.stop());

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
  const { server, databaseUrl, query, fixtures, values } = walked;
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
  const { query } = walked;
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
  const { server } = walked;
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

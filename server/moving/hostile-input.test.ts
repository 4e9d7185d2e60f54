import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Tenant } from "../config/tenant.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { folderForTests, runtimeForTests } from "../testing/open-for-tests.ts";
import { reportInFile, reportTo } from "./import-report.ts";
import { type ImportOptions, importUsers } from "./import-users.ts";

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });
const folder = folderForTests("hostile");

const newTenant = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

async function importOf(text: string, options: Partial<ImportOptions> = {}, tenant?: Tenant) {
  const refusals: { line: number; reason: string }[] = [];
  const result = await importUsers(
    runtime,
    tenant ?? (await newTenant()),
    Readable.from([Buffer.from(text)]),
    { form: null, providers: {}, dryRun: false, resume: false, emitEvents: false, ...options },
    reportTo((refusal) => refusals.push(refusal)),
  );
  return { ...result, refusals };
}

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
/** An object whose conversion to a text throws. */
const untextual = { toString: null, valueOf: null };
const bytesOf = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000))).join("");

const good = { id: randomUUID(), emails: [{ address: "good@example.com" }] };
const firebaseGood = { localId: "good", email: "good@example.com" };
const hankoGood = {
  user_id: randomUUID(),
  emails: [{ address: "good@example.com" }],
  webauthn_credentials: [],
};
const auth0Good = { user_id: "auth0|good", email: "good@example.com" };
const supabaseGood = { id: randomUUID(), email: "good@example.com", raw_app_meta_data: {} };

describe.each([false, true])("a hostile record does not end the import, dry run: %s", (dryRun) => {
  test.each<[string, object, string]>([
    ["deep metadata", good, `{"emails":[{"address":"a@example.com"}],"public_metadata":${nested(100_000)}}`],
    [
      "deep claims of Firebase",
      firebaseGood,
      `{"localId":"x","email":"a@example.com","customClaims":${nested(100_000)}}`,
    ],
    [
      "deep text of Firebase",
      firebaseGood,
      JSON.stringify({ localId: "x", email: "a@example.com", customAttributes: nested(100_000) }),
    ],
    ["a deep unknown member", good, `{"emails":[{"address":"a@example.com"}],"x":${nested(100_000)}}`],
    [
      "a deep id",
      hankoGood,
      `{"user_id":${"[".repeat(100_000)}${"]".repeat(100_000)},"emails":[{"address":"a@example.com"}]}`,
    ],
    [
      "objects in place of texts, of Hanko",
      hankoGood,
      JSON.stringify({ user_id: untextual, emails: [{ address: untextual }], created_at: untextual }),
    ],
    [
      "objects in a passkey, of Hanko",
      hankoGood,
      JSON.stringify({
        emails: [{ address: "a@example.com" }],
        webauthn_credentials: [
          {
            id: untextual,
            public_key: untextual,
            sign_count: untextual,
            aaguid: untextual,
            transports: [untextual],
            attestation_type: untextual,
          },
        ],
      }),
    ],
    [
      "objects as a secret, of Hanko",
      hankoGood,
      JSON.stringify({ emails: [{ address: "a@example.com" }], otp_secret: { secret: untextual } }),
    ],
    [
      "objects in place of times",
      firebaseGood,
      JSON.stringify({ localId: "x", email: "a@example.com", createdAt: untextual }),
    ],
    [
      "objects in a hash, of Auth0",
      auth0Good,
      JSON.stringify({
        user_id: "auth0|x",
        email: "a@example.com",
        custom_password_hash: {
          algorithm: "scrypt",
          hash: { value: "aaaa", encoding: untextual },
          salt: { encoding: untextual },
          cost: untextual,
        },
      }),
    ],
    [
      "an object as algorithm, of Auth0",
      auth0Good,
      JSON.stringify({
        user_id: "auth0|x",
        email: "a@example.com",
        custom_password_hash: { algorithm: untextual },
      }),
    ],
    ["an object as id, of Auth0", auth0Good, JSON.stringify({ user_id: untextual, email: "a@example.com" })],
    [
      "NUL in the name of a field",
      firebaseGood,
      JSON.stringify({ localId: "x", email: "a@example.com", "a\0b": 1 }),
    ],
    [
      "a lone surrogate in the name of a field",
      firebaseGood,
      '{"localId":"x","email":"a@example.com","\\ud800":1}',
    ],
    [
      "a name of a field that is cut within a character",
      firebaseGood,
      JSON.stringify({ localId: "x", email: "a@example.com", [`a${"\u{1F600}".repeat(100)}`]: 1 }),
    ],
    [
      "NUL in the name of a provider",
      supabaseGood,
      JSON.stringify({
        id: randomUUID(),
        email: "a@example.com",
        raw_app_meta_data: {},
        identities: [{ provider: "x\0", provider_id: "1" }],
      }),
    ],
    [
      "a subject that no index can hold",
      good,
      JSON.stringify({
        emails: [{ address: "a@example.com" }],
        identities: [{ provider: "google", subject: bytesOf(1_024) }],
      }),
    ],
    [
      "a year that no calendar has",
      good,
      JSON.stringify({ emails: [{ address: "a@example.com" }], created_at: "0000-01-01T00:00:00Z" }),
    ],
    [
      "a time whose year has five digits in UTC",
      good,
      JSON.stringify({ emails: [{ address: "a@example.com" }], created_at: "9999-12-31T23:59:59-12:00" }),
    ],
    [
      "members of prototypes",
      good,
      '{"__proto__":{"emails":[]},"constructor":1,"emails":[{"address":"a@example.com"}]}',
    ],
  ])("%s", async (_, first, line) => {
    const after = { ...first, ...("localId" in first ? { localId: "after", email: "b@example.com" } : {}) };
    const { imported, refused } = await importOf(`${JSON.stringify(after)}\n${line}\n`, { dryRun });
    expect(imported + refused).toBe(2);
    expect(imported).toBeGreaterThanOrEqual(1);
  });
});

test("identities in a file of their own that are hostile are refused with their line, or do no harm", async () => {
  const users = JSON.stringify({ id: randomUUID(), email: "a@example.com", raw_app_meta_data: {} });
  const chunks = (text: string) => Readable.from([Buffer.from(text)]);
  for (const broken of [
    "{",
    '{"user_id":1}',
    `{"user_id":"x\\u0000","provider":"google"}`,
    `{"user_id":"x","a":${nested(100_000)}}`,
  ])
    await expect(importOf(users, { identities: chunks(broken) })).rejects.toThrow("line 1 of the identities");
  const odd = `${JSON.stringify({ id: untextual, email: "x@example.com", raw_app_meta_data: {} })}\n${JSON.stringify({ id: "\0", email: "y@example.com", raw_app_meta_data: {} })}\n${users}`;
  const identities = chunks('{"user_id":"x","provider":"google","provider_id":"1"}');
  expect(await importOf(odd, { identities })).toMatchObject({ imported: 1, refused: 2 });
});

test("reasons and names of fields contain no control characters", async () => {
  const esc = "\u001b[2J\u009b2J\n";
  const strict = await importOf(`${JSON.stringify(good)}\n${JSON.stringify({ ...good, [`x${esc}`]: 1 })}`);
  const loose = await importOf(JSON.stringify({ ...firebaseGood, [`x${esc}`]: 1 }));
  const shown = [strict.refusals[0]?.reason ?? "", ...Object.keys(loose.omitted)];
  expect(shown).toHaveLength(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals obey them.
  for (const text of shown) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

describe("an import that was interrupted", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      at % 10 === 9
        ? "{"
        : JSON.stringify({ ...good, id: randomUUID(), emails: [{ address: `user${at}@example.com` }] }),
    ).join("\n");

  /** Imports the first batch. */
  async function interrupt(tenant: Tenant, text: string, path: string, options: Partial<ImportOptions> = {}) {
    const inner = await reportInFile(path);
    const failing = {
      ...inner,
      accept() {
        throw new Error("killed");
      },
    };
    const given = { form: null, providers: {}, dryRun: false, resume: false, emitEvents: false, ...options };
    await expect(
      importUsers(runtime, tenant, Readable.from([Buffer.from(text)]), given, failing),
    ).rejects.toThrow("killed");
    await inner.close();
  }

  test("is not resumed with another report, which would lack refused lines", async () => {
    const [tenant, text] = [await newTenant(), lines(1_500)];
    await interrupt(tenant, text, join(folder, "report"));
    const another = await reportInFile(join(folder, "another"));
    const given = { form: null, providers: {}, dryRun: false, resume: true, emitEvents: false };
    await expect(
      importUsers(runtime, tenant, Readable.from([Buffer.from(text)]), given, another),
    ).rejects.toThrow("the report is not that of the interrupted import");
    await another.close();
    expect(readFileSync(join(folder, "another"), "utf8")).toBe("");
  });

  test("is resumed although the form is named now, and not with other options", async () => {
    const [tenant, text] = [await newTenant(), lines(1_500)];
    await interrupt(tenant, text, join(folder, "options"));
    await expect(importOf(text, { resume: true, providers: { x: "google" } }, tenant)).rejects.toThrow(
      "the input or the options are not those",
    );
    const identities = Readable.from([Buffer.from('{"user_id":"x"}')]);
    await expect(importOf(text, { resume: true, identities }, tenant)).rejects.toThrow(
      "the input or the options are not",
    );
    const result = await importOf(text, { resume: true, form: "stile" }, tenant);
    expect(result).toMatchObject({ resumedAfter: 1_000, imported: 1_350, refused: 150 });
  });
});

test("a report of an earlier import is emptied, also by an import that has no records", async () => {
  const path = join(folder, "stale");
  writeFileSync(path, "stale\n");
  const report = await reportInFile(path);
  const given = { form: null, providers: {}, dryRun: true, resume: false, emitEvents: false };
  await importUsers(runtime, await newTenant(), Readable.from([]), given, report);
  await report.close();
  expect(readFileSync(path, "utf8")).toBe("");
});

test("two imports of the same users in opposite orders give each user once, without an error", async () => {
  const tenant = await newTenant();
  const users = Array.from({ length: 3_000 }, (_, at) =>
    JSON.stringify({ emails: [{ address: `user${at}@example.com` }], username: `user${at}` }),
  );
  const results = await Promise.all([
    importOf(users.join("\n"), {}, tenant),
    importOf([...users].reverse().join("\n"), {}, tenant),
    importOf(users.join("\n\n"), {}, tenant),
  ]);
  expect(results.reduce((sum, { imported }) => sum + imported, 0)).toBe(3_000);
  for (const { imported, refused } of results) expect(imported + refused).toBe(3_000);
});

test("users of another tenant may have the same id, address, username, passkey and identity", async () => {
  const user = {
    ...good,
    username: "good",
    identities: [{ provider: "google", subject: "1" }],
    totp: { secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" },
  };
  for (const tenant of [await newTenant(), await newTenant()])
    expect(await importOf(JSON.stringify(user), {}, tenant)).toMatchObject({ imported: 1, refused: 0 });
});

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { exportAll, importRecords, importText } from "../testing/moving.ts";
import { folderForTests, runtimeForTests } from "../testing/open-for-tests.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { type ImportReport, positionOf, type Refusal, reportInFile, reportTo } from "./import-report.ts";
import { type ImportOptions, importUsers } from "./import-users.ts";
import { MAX_RECORD_BYTES } from "./split-records.ts";

const { auditLogs, emails, userImports, users } = schema;

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });
const folder = folderForTests("import");

const newTenant = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

const userAt = (index: number) => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  emails: [{ address: `user${index}@example.com` }],
  totp: { secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" },
  created_at: "2020-01-02T03:04:05.678Z",
});

/** Users of several batches. Every hundredth line is refused, for a reason that may lie in another batch. */
const manyLines = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const user = userAt(index);
    if (index % 100 === 50) return JSON.stringify({ ...user, emails: userAt(index - 50).emails });
    return index % 100 === 99 ? "{" : JSON.stringify(user);
  }).join("\n");

const importWith = (
  tenant: Tenant,
  text: string,
  report: ImportReport,
  options: Partial<ImportOptions> = {},
) =>
  importUsers(
    runtime,
    tenant,
    Readable.from([Buffer.from(text)]),
    { form: null, providers: {}, dryRun: false, resume: false, emitEvents: false, ...options },
    report,
  );

const exported = async (tenant: Tenant) => JSON.stringify(await exportAll(runtime, tenant));

describe("an import of several batches", () => {
  const text = manyLines(3_500);

  test("is the same when it was interrupted before or after any commit, and resumed", async () => {
    const whole = await newTenant();
    const wholeReport = await reportInFile(join(folder, "whole"));
    const expected = await importWith(whole, text, wholeReport);
    await wholeReport.close();
    expect(expected).toMatchObject({ imported: 3_430, refused: 70 });
    const users = await exported(whole);

    const interrupted = await newTenant();
    const path = join(folder, "interrupted");
    let attempts = 0;
    for (let batch = 1; batch <= 4; batch += 1) {
      for (const moment of ["stage", "accept"] as const) {
        const inner = await reportInFile(path);
        let calls = 0;
        /** Fails in the transaction of a batch, or directly after its commit. */
        const failing: ImportReport = {
          ...inner,
          async stage(refusals, tx) {
            const length = await inner.stage(refusals, tx);
            calls += 1;
            if (moment === "stage" && calls === 1) throw new Error("killed");
            return length;
          },
          accept(refusals) {
            inner.accept(refusals);
            if (moment === "accept") throw new Error("killed");
          },
        };
        attempts += 1;
        await expect(importWith(interrupted, text, failing, { resume: attempts > 1 })).rejects.toThrow(
          "killed",
        );
        await inner.close();
      }
    }
    const report = await reportInFile(path);
    expect(await importWith(interrupted, text, report, { resume: true })).toEqual({
      ...expected,
      resumedAfter: 3_500,
    });
    await report.close();
    expect(readFileSync(path, "utf8")).toBe(readFileSync(join(folder, "whole"), "utf8"));
    expect(await exported(interrupted)).toBe(users);
    expect(await runtime.database.read.$count(userImports)).toBe(0);
  });

  test("is judged by a dry run as it is imported, which writes nothing", async () => {
    const tenant = await newTenant();
    const rehearsed = await importText(runtime, tenant, text, { dryRun: true });
    expect(await exportAll(runtime, tenant)).toEqual([]);
    expect(await runtime.database.read.$count(auditLogs, eq(auditLogs.tenantId, tenant.id))).toBe(0);
    expect(await runtime.database.read.$count(userImports)).toBe(0);
    expect(rehearsed.imported).toBe(3_430);
    expect(await importText(runtime, tenant, text)).toEqual(rehearsed);
    // Against users that exist, too.
    expect(await importText(runtime, tenant, text, { dryRun: true })).toMatchObject({
      imported: 0,
      refused: 3_500,
    });
  });

  test("is recorded in the audit log once", async () => {
    const tenant = await newTenant();
    await importText(runtime, tenant, text);
    const entries = await runtime.database.read
      .select({ type: auditLogs.type, details: auditLogs.details })
      .from(auditLogs)
      .where(eq(auditLogs.tenantId, tenant.id));
    expect(entries).toEqual([
      { type: "users_imported", details: { form: "stile", imported: 3_430, refused: 70 } },
    ]);
  });

  test("is not resumed with another input, and a second process does not continue it beside the first", async () => {
    const tenant = await newTenant();
    const cut = {
      stage: async () => 0,
      accept: () => {
        throw new Error("killed");
      },
      resume: async () => {},
      close: async () => {},
    };
    await expect(importWith(tenant, text, cut)).rejects.toThrow("killed");
    // The same beginning, by which it is found, and another record later in the first batch.
    const changed = text.replace("user900@", "user9000@");
    expect(changed).not.toBe(text);
    expect(text.indexOf("user900@")).toBeGreaterThan(65_536);
    await expect(importText(runtime, tenant, changed, { resume: true })).rejects.toThrow(
      /not those of the interrupted import/,
    );
    await expect(importText(runtime, tenant, text.slice(0, 70_000), { resume: true })).rejects.toThrow(
      /shorter than the one/,
    );

    let second: Promise<unknown> | null = null;
    const overtaken: ImportReport = {
      ...cut,
      accept: () => {},
      async stage() {
        // Starts anew while this batch is not committed, and waits for it.
        second ??= importText(runtime, tenant, text).catch((error: Error) => error.message);
        return 0;
      },
    };
    const first = await importWith(tenant, text, overtaken, { resume: true }).catch(
      (error: Error) => error.message,
    );
    const other = await second;
    expect([first, other]).toContain("this input is being imported by another process");
  });
});

describe("duplicates", () => {
  test("are refused one by one, whether they are in the database, in another batch or in the same one", async () => {
    const tenant = await newTenant();
    await importRecords(runtime, tenant, [{ ...userAt(1), username: "ada" }]);
    const before = await exported(tenant);
    const filler = Array.from({ length: 1_200 }, (_, index) => userAt(10_000 + index));
    const { refusals, imported } = await importRecords(runtime, tenant, [
      { ...userAt(2), emails: [{ address: "USER1@example.com" }] },
      { ...userAt(3), username: "Ada" },
      // Its own address is free, because the user of line 1 was refused.
      userAt(2),
      { ...userAt(4), emails: [{ address: "user2@example.com" }] },
      { ...userAt(5), emails: [{ address: "a@example.com" }, { address: "A@example.com" }] },
      ...filler,
      { ...userAt(6), emails: [{ address: "user2@example.com" }] },
      { ...userAt(10_001), emails: [{ address: "new@example.com" }] },
    ]);
    const address = "an email address is in use, or listed twice";
    expect(refusals).toEqual([
      { line: 1, reason: address },
      { line: 2, reason: "the username is in use" },
      { line: 4, reason: address },
      { line: 5, reason: address },
      { line: 1_206, reason: address },
      { line: 1_207, reason: "a user with this id exists" },
    ]);
    expect(imported).toBe(1_201);
    const [ada] = (await exportAll(runtime, tenant)).filter(({ id }) => id === userAt(1).id);
    expect(JSON.stringify([ada])).toBe(before);
  });

  test("of a file in one line are told apart by their number and their id", async () => {
    const refusals: Refusal[] = [];
    const users = [
      { ...userAt(20), username: "twenty" },
      { ...userAt(21), username: "twenty" },
      { emails: [{ address: "no address" }] },
      { ...userAt(22), id: "no\u001bid" },
      userAt(23),
    ];
    const input = Readable.from([Buffer.from(JSON.stringify(users))]);
    const options = { form: null, providers: {}, dryRun: false, resume: false, emitEvents: false };
    const report = reportTo((refusal) => refusals.push(refusal));
    const { imported } = await importUsers(runtime, await newTenant(), input, options, report);
    expect([imported, refusals]).toEqual([
      2,
      [
        { line: 1, record: 2, id: userAt(21).id, reason: "the username is in use" },
        { line: 1, record: 3, reason: expect.stringMatching(/./) },
        { line: 1, record: 4, id: "no\uFFFDid", reason: expect.stringMatching(/./) },
      ],
    ]);
    expect(refusals.map(positionOf)).toEqual([
      `line 1, record 2 (${userAt(21).id})`,
      "line 1, record 3",
      "line 1, record 4 (no\uFFFDid)",
    ]);
  });

  test("that a running server creates meanwhile are refused, and the rest of the batch is imported", async () => {
    const tenant = await newTenant();
    const registered = randomUUID();
    const register = () =>
      runtime.database.write.transaction(async (tx) => {
        await tx.insert(users).values({ tenantId: tenant.id, id: registered });
        const row = { tenantId: tenant.id, id: randomUUID(), userId: registered, isPrimary: true };
        await tx.insert(emails).values({ ...row, address: "user1@example.com" });
      });
    // Registers between the look-up of the first attempt and its inserts.
    const { write } = runtime.database;
    const begin = write.transaction.bind(write);
    let attempts = 0;
    const racing = {
      ...runtime,
      database: {
        ...runtime.database,
        write: Object.assign(Object.create(write), {
          transaction: (work: Parameters<typeof begin>[0]) =>
            begin(async (tx) => {
              const execute = tx.execute.bind(tx);
              tx.execute = (async (query: Parameters<typeof execute>[0]) => {
                const result = await execute(query);
                attempts += 1;
                if (attempts === 1) await register();
                return result;
              }) as typeof execute;
              return work(tx);
            }),
        }),
      },
    };
    const result = await importRecords(racing as TestRuntime, tenant, [userAt(0), userAt(1), userAt(2)]);
    expect(result).toMatchObject({ imported: 2, refusals: [{ line: 2, reason: /./ }] });
    expect((await exportAll(runtime, tenant)).map(({ id }) => id)).toEqual(
      [userAt(0).id, userAt(2).id, registered].sort(),
    );
  });
});

test("emits user.create only on request", async () => {
  await storeWebhook(runtime, ["user"]);
  await importRecords(runtime, runtime.tenant, [userAt(1), userAt(2)]);
  expect(await storedEvents(runtime)).toEqual([]);
  await importRecords(runtime, runtime.tenant, [userAt(3), userAt(4)], { emitEvents: true });
  expect(await storedEvents(runtime)).toMatchObject([
    { name: "user.create", subjectId: userAt(3).id, data: { emails: [{ address: "user3@example.com" }] } },
    { name: "user.create", subjectId: userAt(4).id },
  ]);
});

describe("A91 an input", () => {
  test("with a line beyond a megabyte, a binary one and a deep one is imported but for these", async () => {
    const tenant = await newTenant();
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const lines = [
      JSON.stringify(userAt(1)),
      `{"name":"${"x".repeat(MAX_RECORD_BYTES)}"}`,
      deep,
      "\u0000",
      "",
      JSON.stringify({ ...userAt(5), unsafe_metadata: JSON.parse('{"__proto__":{"polluted":1}}') }),
      JSON.stringify(userAt(6)),
    ];
    const bytes = Buffer.concat([Buffer.from(lines.join("\n")), Buffer.from("\n{\xff}\n", "latin1")]);
    const { refusals, imported } = await importText(runtime, tenant, bytes);
    expect(imported).toBe(3);
    expect(refusals.map(({ line }) => line)).toEqual([2, 3, 4, 8]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const metadata = (await exportAll(runtime, tenant))[1]?.unsafe_metadata;
    expect(Object.keys(metadata ?? {})).toEqual(["__proto__"]);
  });

  test("that ends within its list, or has no known form, is not imported", async () => {
    const tenant = await newTenant();
    const text = JSON.stringify([userAt(1), userAt(2)]);
    await expect(importText(runtime, tenant, text.slice(0, -1))).rejects.toThrow(/incomplete/);
    expect(await exportAll(runtime, tenant)).toHaveLength(0);
    await expect(importText(runtime, tenant, "nothing,known\n1,2\n")).rejects.toThrow(/--format/);
    expect(await importText(runtime, tenant, "")).toMatchObject({ imported: 0, refused: 0 });
  });
});

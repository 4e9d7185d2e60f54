import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { testJobs } from "../../testing/jobs.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";

const plain = await runtimeForTests();
const { database } = plain;
const newJobs = () => testJobs({ database }, {}, ["a key for tests alone"]);
let jobs = newJobs();
await jobs.start({ worker: false });
const runtime = Object.assign(Object.create(plain), { jobs: { ...jobs } }) as typeof plain;
const { call, key } = await adminOperator(runtime);

afterEach(async () => {
  await jobs.stop();
  jobs = newJobs();
  await jobs.start({ worker: false });
  Object.assign(runtime, { jobs: { ...jobs } });
});

const userLine = (name: string, more: object = {}) =>
  `${JSON.stringify({ username: name, emails: [{ address: `${name}@example.com`, is_primary: true }], ...more })}\n`;

/** A file with a user whose name is taken in it, and a line that is no user. */
const file = (prefix: string, users = 3) =>
  [
    ...Array.from({ length: users }, (_, at) => userLine(`${prefix}_${at}`)),
    userLine(`${prefix}_0`),
    "{broken\n",
  ].join("");

async function upload(text: string, size = 40, body: object = {}): Promise<{ id: string; pieces: number }> {
  const { body: begun } = await call("POST", "/imports", body);
  let pieces = 0;
  for (let from = 0; from < text.length; from += size) {
    pieces += 1;
    const piece = { data: text.slice(from, from + size) };
    expect((await call("PUT", `/imports/${begun.id}/pieces/${pieces}`, piece)).status).toBe(200);
  }
  return { id: begun.id, pieces };
}

const start = (id: string, pieces: number, check: boolean) =>
  call("POST", `/imports/${id}/start`, { check, pieces });
const show = async (id: string) => (await call("GET", `/imports/${id}`)).body;
const found = async (name: string) =>
  Number((await call("GET", `/users?username=${name}`)).headers.get("x-total-count"));
const refusals = async (id: string) => {
  const answer = await visitor(runtime).request(`/admin/imports/${id}/refusals`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await answer.text())
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const piecesOf = async (id: string) =>
  (await database.read.select().from(schema.uploadedPieces).where(eq(schema.uploadedPieces.importId, id)))
    .length;

describe("an uploaded file of users", () => {
  test("is checked without writing, then imported without sending it again, and its refused records are listed", async () => {
    const { id, pieces } = await upload(file("ada"));
    expect(pieces).toBeGreaterThan(5);
    expect((await start(id, pieces, true)).body.state).toBe("waiting");
    expect((await show(id)).expected).toBeNull();
    expect(await jobs.runDue(1)).toBe(1);
    const checked = await show(id);
    expect(checked).toMatchObject({ state: "checked", check: true, imported: 3, refused: 2, failure: null });
    expect(checked.expected).toBe(5);
    expect(await found("ada_")).toBe(0);
    const expected = [
      { line: 4, record: 4, reason: "the username is in use" },
      { line: 5, record: 5, reason: "not JSON" },
    ];
    expect(await refusals(id)).toMatchObject([{ line: 4, record: 4 }, expected[1]]);
    const second = await call("GET", `/imports/${id}/refused_records?per_page=1&page=2`);
    expect(second.body).toEqual([expected[1]]);
    expect(second.headers.get("x-total-count")).toBe("2");

    await start(id, pieces, false);
    expect(await show(id)).toMatchObject({ state: "waiting", expected: 5, imported: 0, refused: 0 });
    expect(await jobs.runDue(1)).toBe(1);
    expect(await show(id)).toMatchObject({ state: "imported", check: false, imported: 3, refused: 2 });
    expect(await found("ada_")).toBe(3);
    expect(await refusals(id)).toHaveLength(2);
    expect(await piecesOf(id)).toBe(0);
    const log = (await call("GET", "/audit_logs?type=users_imported")).body;
    expect(log[0].details).toMatchObject({ imported: 3, refused: 2, form: "stile" });
    expect(log[0].meta_http_request_id).not.toBe("");
    // Started again, it is as it was.
    expect((await start(id, pieces, false)).body.state).toBe("imported");
    expect(await jobs.runDue(1)).toBe(0);
  });

  test("goes on where a lost connection ended, and takes a piece that is sent again once", async () => {
    const { body } = await call("POST", "/imports", {});
    const text = file("bea", 2);
    const [one, two] = [text.slice(0, 70), text.slice(70)];
    const put = (number: number, data: string) =>
      call("PUT", `/imports/${body.id}/pieces/${number}`, { data });
    expect((await put(2, two)).status).toBe(409);
    await put(1, one);
    expect((await put(1, one)).body).toMatchObject({ pieces: 1, bytes: 70 });
    expect((await put(1, two)).status).toBe(409);
    expect((await start(body.id, 2, false)).status).toBe(409);
    expect((await put(2, two)).body).toMatchObject({ pieces: 2, bytes: text.length });
    await start(body.id, 2, false);
    expect((await put(3, "more")).status).toBe(409);
    await Promise.all([start(body.id, 2, false), start(body.id, 2, false)]);
    await jobs.runDue(5);
    expect(await show(body.id)).toMatchObject({ state: "imported", imported: 2 });
    expect(await found("bea_")).toBe(2);
  });

  test("is imported to its end once, although the process is killed in the middle", async () => {
    const users = 2_500;
    const { id, pieces } = await upload(file("cleo", users), 100_000);
    await start(id, pieces, false);
    // The third batch of an attempt cannot be written, as if its process had ended there.
    await database.write.execute(sql`
      create function refuse_third() returns trigger language plpgsql as $$
      begin
        if new.records > 2000 then raise exception 'killed'; end if;
        return new;
      end $$`);
    await database.write.execute(
      sql`create trigger refuse_third before update on user_imports for each row execute function refuse_third()`,
    );
    await jobs.runDue(1);
    expect(await show(id)).toMatchObject({ state: "running", records: 2_000, imported: 2_000, refused: 0 });
    expect(await found("cleo_")).toBe(2_000);
    await database.write.execute(sql`drop function refuse_third cascade`);
    await database.write.execute(sql`update pgboss.job set start_after = now() where name = 'import_users'`);
    await jobs.runDue(1);
    expect(await show(id)).toMatchObject({ state: "imported", imported: users, refused: 2 });
    expect(await found("cleo_")).toBe(users);
    expect((await refusals(id)).map(({ record }) => record)).toEqual([users + 1, users + 2]);
  });

  test("that another process has in hand is left to it", async () => {
    const { id, pieces } = await upload(file("dora", 1));
    await start(id, pieces, false);
    const { uploadedImports } = schema;
    const held = { state: "running" as const, claimedUntil: new Date(Date.now() + 60_000) };
    await database.write.update(uploadedImports).set(held).where(eq(uploadedImports.id, id));
    await jobs.runDue(1);
    expect(await found("dora_")).toBe(0);
    // Nothing has failed.
    const lines = jobs.logged.map((line) => JSON.parse(line)).filter(({ job }) => job === "import_users");
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([[30, "job goes on in another attempt"]]);
    expect(lines[0].reason).toContain("another process");
    await database.write
      .update(uploadedImports)
      .set({ claimedUntil: new Date(0) })
      .where(eq(uploadedImports.id, id));
    await database.write.execute(sql`update pgboss.job set start_after = now() where name = 'import_users'`);
    await jobs.runDue(1);
    expect(await found("dora_")).toBe(1);
  });

  test("that is cancelled imports no more, and its pieces are deleted", async () => {
    const { id, pieces } = await upload(file("eve", 2));
    await start(id, pieces, false);
    expect((await call("DELETE", `/imports/${id}`)).body.state).toBe("cancelled");
    expect((await call("DELETE", `/imports/${id}`)).status).toBe(200);
    await jobs.runDue(1);
    expect(await show(id)).toMatchObject({ state: "cancelled", imported: 0 });
    expect(await found("eve_")).toBe(0);
    expect(await piecesOf(id)).toBe(0);
    expect((await start(id, pieces, false)).body.state).toBe("cancelled");
  });

  test("whose form is not known, or whose pieces have expired, fails with the reason", async () => {
    const { id, pieces } = await upload('{"who":"knows"}\n');
    await start(id, pieces, true);
    await jobs.runDue(1);
    expect(await show(id)).toMatchObject({ state: "failed", failure: expect.stringContaining("form") });
    const late = await upload(file("flo", 1));
    await start(late.id, late.pieces, false);
    await database.write.delete(schema.uploadedPieces);
    await jobs.runDue(1);
    expect(await show(late.id)).toMatchObject({ state: "failed", failure: expect.stringContaining("gone") });
  });

  test("A354 that is cut off while it is sent or imported, and repeated, imports each record once and tells what it did", async () => {
    const { id, pieces } = await upload(file("cut", 4), 60);
    const text = file("cut", 4);
    // The answers of the last pieces were lost: both are sent again.
    for (const number of [pieces - 1, pieces]) {
      const data = text.slice((number - 1) * 60, number * 60);
      expect((await call("PUT", `/imports/${id}/pieces/${number}`, { data })).body.pieces).toBe(pieces);
    }
    await start(id, pieces, true);
    await jobs.runDue(1);
    expect((await call("GET", `/imports/${id}/refused_records?page=9`)).body).toEqual([]);
    for (const query of ["?page=0", "?page=x", "?per_page=100000"])
      expect((await call("GET", `/imports/${id}/refused_records${query}`)).status).toBe(400);
    expect((await call("GET", `/imports/${randomUUID()}/refused_records`)).status).toBe(404);
    await Promise.all([start(id, pieces, false), start(id, pieces, false)]);
    expect((await call("DELETE", `/imports/${id}`)).body).toMatchObject({
      state: "cancelled",
      imported: 0,
      refused: 0,
    });
    await jobs.runDue(5);
    expect(await found("cut_")).toBe(0);
    const again = await upload(file("cut", 4), 60);
    await start(again.id, again.pieces, false);
    await jobs.runDue(5);
    expect(await show(again.id)).toMatchObject({ state: "imported", imported: 4, refused: 2, expected: 6 });
    expect(await found("cut_")).toBe(4);
  });

  test("is sealed where it is stored", async () => {
    const { id } = await upload(userLine("gil", { password_hash: "$2b$10$abcdefghijklmnopqrstuv" }), 1_000);
    const rows = await database.read
      .select({ data: schema.uploadedPieces.sealedData })
      .from(schema.uploadedPieces)
      .where(eq(schema.uploadedPieces.importId, id));
    expect(rows[0]?.data.toString("latin1")).not.toContain("gil");
    await call("DELETE", `/imports/${id}`);
  });
});

describe("A323 a file", () => {
  test("longer than its bound, or a piece longer than its own, is not taken", async () => {
    const { body } = await call("POST", "/imports", {});
    const put = (number: unknown, data: unknown) =>
      call("PUT", `/imports/${body.id}/pieces/${number}`, { data });
    expect((await put(1, "x".repeat(1_000_001))).status).toBe(400);
    expect((await put(1, "\u0001".repeat(1_100_000))).status).toBe(413);
    for (let number = 1; number <= 4; number += 1)
      expect((await put(number, "x".repeat(1_000_000))).status).toBe(200);
    expect((await put(5, "x".repeat(1_000_000))).status).toBe(400);
    for (const number of ["0", "-1", "1.5", "1e1", "0x1", "99999999"])
      expect((await put(number, "x")).status).toBe(400);
    for (const data of ["", 1, null, ["x"]]) expect((await put(5, data)).status).toBe(400);
    expect((await show(body.id)).pieces).toBe(4);
    expect((await call("DELETE", `/imports/${body.id}`)).status).toBe(200);
  });

  test("is one of ten at most that wait, also if they are begun at once", async () => {
    const begun = await Promise.all(Array.from({ length: 14 }, () => call("POST", "/imports", {})));
    expect(begun.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(begun.filter(({ status }) => status === 409)).toHaveLength(4);
    for (const { status, body } of begun) if (status === 200) await call("DELETE", `/imports/${body.id}`);
  });

  test("with records that are hostile is refused record by record, and the others are imported", async () => {
    const hostile = [
      "null",
      "[]",
      `{"username":"h_1","__proto__":{"a":1}}`,
      `{"username":"h_2","is_admin":true}`,
      `{"username":"h_3","tenant_id":"${randomUUID()}"}`,
      `${"[".repeat(5_000)}`,
      `{"username":"h_4\\u0000"}`,
      `{"id":"../../etc","username":"h_5"}`,
    ];
    const text = `${userLine("hal")}${hostile.join("\n")}\n`;
    const { id, pieces } = await upload(text, 3_000, { format: "stile" });
    await start(id, pieces, false);
    await jobs.runDue(1);
    const result = await show(id);
    expect(result).toMatchObject({ state: "imported", imported: 1, refused: hostile.length });
    expect(await found("hal")).toBe(1);
    for (const { reason } of await refusals(id)) expect(reason).not.toContain("etc");
  });

  test("of another tenant is not found", async () => {
    const { id } = await upload(file("ida", 1));
    const other = await adminOperator(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["GET", "/refusals", undefined],
      ["PUT", "/pieces/1", { data: "x" }],
      ["POST", "/start", { pieces: 3 }],
      ["DELETE", "", undefined],
    ] as const)
      expect((await other.call(method, `/imports/${id}${path}`, body)).status).toBe(404);
    expect((await other.call("GET", "/imports")).body).toEqual([]);
    expect(await show(id)).toMatchObject({ state: "uploading" });
  });
});

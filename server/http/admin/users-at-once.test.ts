import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restWalk } from "../../testing/rest-walk.ts";
import { userWithEverything } from "../../testing/user-with-everything.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();
const { call, key } = await adminOperator(runtime);

const act = (action: string, user_ids: unknown) => call("POST", "/users/bulk", { action, user_ids });
const sessionsOf = async (id: string) => (await call("GET", `/users/${id}/sessions`)).body;

describe("several users at once", () => {
  test("are blocked each by itself, with an answer and an entry of the audit log for each", async () => {
    const [one, two] = [await accountOwner(runtime), await accountOwner(runtime)];
    const missing = randomUUID();
    const { status, body } = await act("block", [one.userId, missing, two.userId, one.userId.toUpperCase()]);
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { user_id: one.userId, status: 200 },
      { user_id: missing, status: 404, message: "Not found." },
      { user_id: two.userId, status: 200 },
    ]);
    const by = { by: "admin", api_key: expect.any(String) };
    for (const { userId } of [one, two]) {
      expect((await call("GET", `/users/${userId}`)).body.blocked_at).toEqual(expect.any(String));
      expect(await sessionsOf(userId)).toEqual([]);
      expect(await auditTrail(runtime, userId)).toEqual([["user_blocked", by]]);
    }
    await act("unblock", [one.userId, two.userId]);
    for (const { userId } of [one, two])
      expect((await call("GET", `/users/${userId}`)).body).not.toHaveProperty("blocked_at");
  });

  test("are signed out, and stay", async () => {
    const { userId } = await accountOwner(runtime);
    expect(await sessionsOf(userId)).toHaveLength(1);
    expect((await act("end_sessions", [userId])).body.results).toEqual([{ user_id: userId, status: 200 }]);
    expect(await sessionsOf(userId)).toEqual([]);
  });

  test("are deleted, 500 of them in one request", async () => {
    const owners = await Promise.all([1, 2, 3].map(() => accountOwner(runtime)));
    const ids = [...owners.map(({ userId }) => userId), ...Array.from({ length: 497 }, () => randomUUID())];
    const { status, body } = await act("delete", ids);
    expect(status).toBe(200);
    expect(body.results).toHaveLength(500);
    expect(body.results.filter((one: { status: number }) => one.status === 200)).toHaveLength(3);
    for (const { userId } of owners) expect((await call("GET", `/users/${userId}`)).status).toBe(404);
  });

  test("are each answered, also where the database fails for one of them", async () => {
    const [one, two] = [await accountOwner(runtime), await accountOwner(runtime)];
    const { write } = runtime.database;
    await write.execute(`
      create function refuse_one() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse_one before update on users for each row when (new.id = '${one.userId}') execute function refuse_one()`);
    try {
      expect((await act("block", [one.userId, two.userId])).body.results).toEqual([
        { user_id: one.userId, status: 503, message: "Try again." },
        { user_id: two.userId, status: 200 },
      ]);
    } finally {
      await write.execute("drop trigger refuse_one on users; drop function refuse_one()");
    }
  });

  test("A320 beyond 500, or none, or by an action that is not one of several, are not changed", async () => {
    const { userId } = await accountOwner(runtime);
    for (const [action, ids] of [
      ["block", Array.from({ length: 501 }, () => userId)],
      ["block", []],
      ["block", [userId, "1"]],
      ["block", userId],
      ["impersonate", [userId]],
      ["toString", [userId]],
      ["__proto__", [userId]],
    ] as const)
      expect([action, (await act(action, ids)).status]).toEqual([action, 400]);
    expect(await auditTrail(runtime, userId)).toEqual([]);
  });
});

describe("the preview of a deletion", () => {
  test("counts the rows of each table that the deletion takes, and changes nothing", async () => {
    const { id } = await userWithEverything(runtime);
    const { status, body } = await call("GET", `/users/${id}/deletion`);
    expect(status).toBe(200);
    expect(body.rows).toMatchObject({
      users: 1,
      emails: 2,
      passwords: 1,
      webauthn_credentials: 2,
      sessions: 1,
    });
    expect(body.remains).toMatchObject({ audit_logs: expect.any(String) });
    expect((await call("GET", `/users/${id}`)).status).toBe(200);
  });
});

describe("an offer to sign in again", () => {
  test("is mailed to the verified address, in the language of the account, without a code", async () => {
    const { userId, addresses } = await accountOwner(runtime);
    await call("PATCH", `/users/${userId}`, { language: "de" });
    expect((await call("POST", `/users/${userId}/recovery`)).status).toBe(204);
    expect(runtime.enqueued.at(-1)).toEqual({
      name: "send_mail",
      tenantId: runtime.tenant.id,
      to: addresses[0],
      language: "de",
      mail: { type: "recovery_offered" },
    });
    const entries = (await auditTrail(runtime, userId)).map(([type]) => type);
    expect(entries).toContain("recovery_offered");
  });

  test("is refused for a user who is blocked or has no verified address, or where no mailed code leads back", async () => {
    const { userId } = await accountOwner(runtime);
    await call("POST", `/users/${userId}/block`);
    expect((await call("POST", `/users/${userId}/recovery`)).status).toBe(409);
    const { body } = await call("POST", "/users", { username: "nameless" });
    expect((await call("POST", `/users/${body.id}/recovery`)).status).toBe(409);
    const unverified = await call("POST", "/users", {
      emails: [{ address: "new@example.com", is_primary: true, is_verified: false }],
    });
    expect((await call("POST", `/users/${unverified.body.id}/recovery`)).status).toBe(409);
    const strict = runtime.configured({
      STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
      STILE_PASSWORD_RECOVERY: "false",
    });
    const other = await accountOwner(strict);
    const operator = await adminOperator(strict);
    expect((await operator.call("POST", `/users/${other.userId}/recovery`)).status).toBe(409);
    expect(runtime.enqueued.filter(({ to }) => to === other.addresses[0])).toEqual([]);
  });

  test("A321 is mailed three times in an hour at most, by all operators together", async () => {
    const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { userId, addresses } = await accountOwner(limited);
    const operators = [await adminOperator(limited), await adminOperator(limited)];
    const statuses = [];
    for (let each = 0; each < 6; each += 1)
      statuses.push((await operators[each % 2]?.call("POST", `/users/${userId}/recovery`))?.status);
    expect(statuses).toEqual([204, 204, 204, 429, 429, 429]);
    expect(runtime.enqueued.filter(({ to }) => to === addresses[0])).toHaveLength(3);
  });
});

describe("the language of a user", () => {
  test("is set, shown and cleared, and is one that mails are written in", async () => {
    const { userId } = await accountOwner(runtime);
    const shown = async () => (await call("GET", `/users/${userId}`)).body.language;
    expect((await call("PATCH", `/users/${userId}`, { language: "fr" })).body.language).toBe("fr");
    expect((await call("PATCH", `/users/${userId}`, { language: "xx" })).status).toBe(400);
    expect(await shown()).toBe("fr");
    await call("PATCH", `/users/${userId}`, { language: null });
    expect(await shown()).toBeUndefined();
  });
});

describe("an export of users", () => {
  const names = ["=1+1", "+49", "-2", "@SUM(A1)", "\tTab", 'A "quoted" name', "Comma, name"];
  const exported = async (query: string) => {
    const answer = await visitor(runtime).request(`/admin/users/export${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  test("has those that the conditions find, one line of JSON each, oldest first, and no secret", async () => {
    const { id } = await userWithEverything(runtime);
    const { status, headers, text } = await exported(`?user_id=${id}`);
    expect(status).toBe(200);
    expect(headers.get("content-disposition")).toBe('attachment; filename="users.jsonl"');
    expect(JSON.parse(text)).toEqual((await call("GET", `/users/${id}`)).body);
    expect(text).not.toMatch(/argon2|hash|secret|token/i);
    const all = (await exported("")).text.trim().split("\n");
    const times = all.map((line) => JSON.parse(line).created_at);
    expect(times).toEqual(times.toSorted());
    const total = (await call("GET", "/users")).headers.get("x-total-count");
    expect(all).toHaveLength(Number(total));
  });

  test("A322 in CSV has no cell that a program for tables computes", async () => {
    const ids: string[] = [];
    for (const [at, name] of names.entries()) {
      const { body } = await call("POST", "/users", {
        username: `csv_${at}`,
        created_at: `2001-01-0${at + 1}T00:00:00Z`,
      });
      ids.push(body.id);
      const changed = await call(
        "PATCH",
        `/users/${body.id}`,
        name.startsWith("\t") ? { family_name: "=x" } : { name },
      );
      expect(changed.status).toBe(200);
    }
    const { headers, text } = await exported(`?format=csv&user_id=${ids.join(",")}`);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const [head, ...lines] = text.split("\r\n");
    expect(head?.split(",").slice(0, 2)).toEqual(["id", "email"]);
    expect(lines.pop()).toBe("");
    expect(lines).toHaveLength(names.length);
    expect(lines[0]).toContain(",'=1+1,");
    expect(lines[1]).toContain(",'+49,");
    expect(lines[2]).toContain(",'-2,");
    expect(lines[3]).toContain(",'@SUM(A1),");
    expect(lines[4]).toContain(",'=x,");
    expect(lines[5]).toContain(',"A ""quoted"" name",');
    expect(lines[6]).toContain(',"Comma, name",');
    for (const line of lines) expect(line).not.toMatch(/(^|,)"?[=+\-@\t]/);
  });

  test("reads more users than one batch has, each once", async () => {
    await runtime.database.write.execute(
      "insert into users (tenant_id, id, name, created_at) select tenant_id, gen_random_uuid(), 'Many', '2002-01-01' from (select tenant_id from users limit 1) t, generate_series(1, 1203)",
    );
    const { text } = await exported("?name=many");
    const ids = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(1203);
    expect(ids).toHaveLength(1203);
  });

  test("is recorded in the audit log, and a request for its headers alone is not", async () => {
    const entries = async () =>
      (await call("GET", "/audit_logs?type=users_exported")).headers.get("x-total-count");
    const before = Number(await entries());
    const head = await visitor(runtime).request("/admin/users/export?format=csv", {
      method: "HEAD",
      headers: { authorization: `Bearer ${key}` },
    });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Number(await entries())).toBe(before);
    await exported("?q=nothing");
    expect(Number(await entries())).toBe(before + 1);
  });

  test.each(["?format=xls", "?page=1", "?after=", "?blocked=maybe"])("rejects %s", async (query) => {
    expect((await exported(query)).status).toBe(400);
  });
});

test("a user who was offered to sign in again does so by a code that the page mails", async () => {
  const { userId, addresses } = await accountOwner(runtime);
  await call("POST", `/users/${userId}/recovery`);
  const login = await restWalk(runtime, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email: addresses[0] });
  if (login.state.name === "login_method_chooser") await login.act("continue_to_passcode_confirmation");
  const job = runtime.enqueued.findLast(({ to }) => to === addresses[0]);
  await login.act("verify_passcode", { code: job && "code" in job.mail ? job.mail.code : "" });
  expect(login.state.name).not.toBe("passcode_confirmation");
});

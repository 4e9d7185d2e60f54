import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createUserSession } from "../admin/user-sessions.ts";
import { eventually } from "../testing/eventually.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { newAddress, people } from "../testing/people.ts";
import { requestContext } from "../testing/request-context.ts";
import { runStile } from "../testing/stile.ts";

/** What an operator answers "I cannot sign in" and "I get no code" with. */

const runtime = await runtimeForTests();
const databaseUrl = runtime.database.write.$client.options.connectionString ?? "";

const { begin, register, signIn } = people();

const stile = (words: string[], live: Parameters<typeof runStile>[2] = {}) => {
  const env = {
    NODE_ENV: "development" as const,
    DATABASE_URL: databaseUrl,
    SECRET_KEYS: "a key for tests alone",
    STILE_SESSION_ALGORITHM: "ES256",
  };
  return runStile(words, { cwd: process.cwd(), env }, live);
};

async function printed(...words: string[]): Promise<string> {
  const { code, out, err } = await stile(words);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
}

const json = async (...words: string[]) => JSON.parse(await printed(...words, "--json"));

/** Registers a user; returns the address and the id. */
async function newUser() {
  const { email } = await register(runtime);
  const { user } = await json("users", "show", email);
  return { email, id: user.id as string };
}

async function failWith(email: string): Promise<void> {
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password: "not the password" });
}

describe("stile users", () => {
  test("show tells how a user signs in, and why the last attempt failed", async () => {
    const { email, id } = await newUser();
    await failWith(email);
    const text = await printed("users", "show", email);
    expect(text).toMatch(new RegExp(`id +${id}`));
    expect(text).toMatch(new RegExp(`emails +${email} \\(primary, verified\\)`));
    expect(text).toMatch(/signs in with +password/);
    expect(text).toMatch(/blocked +no/);
    expect(text).toMatch(/login_failure .*method=password reason=wrong/);
    const { user, sessions, recent } = await json("users", "show", id.toUpperCase());
    expect([user.id, sessions]).toEqual([id, 1]);
    expect(recent[0]).toMatchObject({ type: "login_failure", details: { reason: "wrong" } });
  });

  test("search finds a part of an address, a page at a time, and bounds the page", async () => {
    const part = randomUUID().slice(0, 13);
    for (const number of [1, 2, 3]) await register(runtime, { email: `${part}-${number}@example.com` });
    const { total, users } = await json("users", "search", part.toUpperCase(), "--limit", "2");
    expect([total, users.length]).toEqual([3, 2]);
    expect(users[0].emails[0].address).toBe(`${part}-3@example.com`);
    const second = await printed("users", "search", part, "--limit", "2", "--page", "2");
    expect(second).toContain(`${part}-1@example.com`);
    expect(second).toContain("page 2: 1 of 3");
    expect(await printed("users", "search", "%")).toBe("id  created  email  username  state");
    for (const limit of ["0", "101", "-1", "many"])
      expect(await stile(["users", "search", part, "--limit", limit])).toMatchObject({ code: 2 });
  });

  test("block, unblock and sign-out do what they say, and are recorded as the CLI's", async () => {
    const { email, id } = await newUser();
    expect(await printed("users", "sign-out", email)).toBe(`signed out ${id}`);
    expect(await json("sessions", "list", email)).toEqual([]);
    expect(await json("users", "block", email)).toEqual({
      id,
      result: "blocked",
      blocked_at: expect.any(String),
    });
    expect((await signIn(runtime, { email })).state.error?.code).toBe("account_blocked");
    expect(await printed("users", "show", email)).toMatch(/blocked +since 20/);
    expect(await printed("users", "unblock", id)).toBe(`unblocked ${id}`);
    expect((await signIn(runtime, { email })).state.name).toBe("success");
    const { entries } = await json("audit", "list", "--user", email);
    const byOperator = entries.filter(
      (entry: { meta_user_agent: string }) => entry.meta_user_agent === "stile",
    );
    expect(byOperator.map(({ type }: { type: string }) => type)).toEqual([
      "user_unblocked",
      "user_blocked",
      "session_revoked",
    ]);
  });

  test.each(["show", "block", "unblock", "sign-out"])(
    "%s of an unknown user fails, and changes nothing",
    async (verb) => {
      const before = await runtime.database.read.$count(schema.auditLogs);
      for (const name of [randomUUID(), newAddress(), "missing", "'; drop table users"])
        expect(await stile(["users", verb, name])).toEqual({
          code: 1,
          out: "",
          err: `stile: there is no user ${name}\n`,
        });
      expect(await runtime.database.read.$count(schema.auditLogs)).toBe(before);
    },
  );

  test("names a user of the chosen tenant alone", async () => {
    const { email } = await newUser();
    const tenant = await printed("tenants", "create", "--name", "Other");
    expect(await stile(["users", "show", email, "--tenant", tenant])).toMatchObject({ code: 1 });
  });
});

describe("stile sessions", () => {
  test("list tells which session an administrator made; end ends one", async () => {
    const { email, id } = await newUser();
    const browser = { userAgent: null, ipAddress: null };
    await createUserSession(requestContext(runtime), id, browser);
    const sessions = await json("sessions", "list", email);
    expect(sessions.map(({ created_by }: { created_by: string }) => created_by).sort()).toEqual([
      "administrator",
      "user",
    ]);
    const made = sessions.find(({ created_by }: { created_by: string }) => created_by === "administrator");
    expect(await printed("sessions", "end", email, made.id)).toBe(`ended ${made.id}`);
    expect(await stile(["sessions", "end", email, made.id])).toEqual({
      code: 1,
      out: "",
      err: `stile: ${email} has no session ${made.id}\n`,
    });
    expect(await printed("sessions", "list", email)).toContain("user");
    expect(await json("sessions", "list", email, "--limit", "1", "--page", "2")).toEqual([]);
  });

  test("end ends no session of another user", async () => {
    const [one, other] = [await newUser(), await newUser()];
    const [session] = await json("sessions", "list", other.email);
    expect(await stile(["sessions", "end", one.email, session.id])).toMatchObject({ code: 1 });
    expect(await json("sessions", "list", other.email)).toHaveLength(1);
  });
});

describe("stile audit", () => {
  test("A160 list finds the failures of an address that no account has, and shows it masked", async () => {
    const address = `missing-${newAddress()}`;
    await failWith(address);
    const { total, entries } = await json("audit", "list", "--user", ` ${address.toUpperCase()}`.trim());
    expect(total).toBe(1);
    expect(entries[0].details).toMatchObject({ reason: "unknown_identifier" });
    const text = await printed("audit", "list", "--user", address);
    expect(text).toMatch(/login_failure +m….@example\.com +method=password reason=unknown_identifier/);
    expect(text).not.toContain(address);
  });

  test("list filters by type, time and address, and bounds the page", async () => {
    const { email } = await newUser();
    for (const _ of [1, 2, 3]) await failWith(email);
    const list = (...words: string[]) => json("audit", "list", "--user", email, ...words);
    expect((await list("--type", "login_failure")).total).toBe(3);
    expect((await list("--type", "login_failure", "--type", "user_created")).total).toBe(4);
    expect((await list("--since", "1h", "--type", "login_failure")).total).toBe(3);
    expect((await list("--until", "1h")).total).toBe(0);
    expect((await list("--ip", "203.0.113.1")).total).toBe(0);
    expect((await list("--limit", "1", "--page", "2")).entries).toHaveLength(1);
    for (const wrong of [
      ["--type", "x"],
      ["--since", "soon"],
      ["--limit", "1000"],
      ["--page", "0"],
    ])
      expect(await stile(["audit", "list", ...wrong])).toMatchObject({ code: 2, out: "" });
  });

  test("follow prints each entry once, as it is written, until it is interrupted", async () => {
    const { email, id } = await newUser();
    const interrupted = new AbortController();
    const lines: string[] = [];
    const followed = stile(["audit", "follow", "--user", email, "--json"], {
      interruption: interrupted.signal,
      print: (line) => void lines.push(line),
    });
    await eventually(async () => {
      await failWith(email);
      expect(lines.length).toBeGreaterThan(1);
    });
    interrupted.abort();
    expect((await followed).code).toBe(0);
    const entries = lines.map((line) => JSON.parse(line));
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length);
    for (const entry of entries) expect([entry.type, entry.actor_user_id]).toEqual(["login_failure", id]);
  });

  test("list and follow show why something failed, and entries of an earlier version without a reason", async () => {
    const { email, id } = await newUser();
    const entry = (type: string, details: object) => ({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      userId: id,
      type,
      details: { ...details },
    });
    const error = `failed to validate assertion: ${"the challenge has expired ".repeat(10)}`;
    await runtime.database.write
      .insert(schema.auditLogs)
      .values([
        entry("authenticator_request_failed", { code: 1403 }),
        entry("authenticator_request_failed", { code: 1403, reason: "cancelled" }),
        entry("webauthn_authentication_final_failed", { error }),
        entry("webauthn_authentication_final_failed", { error, reason: "assertion_rejected" }),
      ]);
    const text = await printed("audit", "list", "--user", email);
    expect(text).toMatch(/authenticator_request_failed +\S+ +code=1403 /);
    expect(text).toMatch(/authenticator_request_failed +\S+ +code=1403 reason=cancelled/);
    expect(text).toMatch(/webauthn_authentication_final_failed +\S+ +error=failed/);
    expect(text).toMatch(/webauthn_authentication_final_failed +\S+ +reason=assertion_rejected error=failed/);
  });

  test("a table shows no control characters of a browser's name", async () => {
    const { email, id } = await newUser();
    await runtime.database.write.insert(schema.auditLogs).values({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      type: "login_failure",
      userId: id,
      userAgent: "\u001b[31mred",
      details: { method: "password", reason: "\u202eevil\n" },
    });
    const text = await printed("audit", "list", "--user", email);
    expect(text).toContain("\\u202eevil");
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("\u202e");
  });
});

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { ConfigError } from "../../config/errors.ts";
import { firstOperatorLink } from "../../console/invitations.ts";
import type { FlowState } from "../../flow/wire.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { callConsole, consoleAccount } from "../../testing/console-account.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress, password } from "../../testing/people.ts";
import { mailedCode } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import type { PageAnswer } from "../page/page-answer.ts";

/** The way into the console and out of it. */

const runtime = await runtimeForTests({ STILE_PASSKEY_ENABLED: "false" });
const base = runtime.config.base_url;

const nowOf = ({ platform }: TestRuntime) => new Date(Date.now() + platform.clockShift());

/** Follows an address that belongs to this service. @returns where its answer leads */
async function follow(browser: Visitor, address: string): Promise<string> {
  const { pathname, search } = new URL(address, base);
  return (await browser.request(pathname + search)).headers.get("location") ?? "";
}

/** A sign-in at the hosted page, as its component performs it. */
async function hostedPage(browser: Visitor, type: "login" | "registration", capabilities = {}) {
  let answer: PageAnswer | undefined;
  const call = async (procedure: string, input: object): Promise<FlowState> => {
    const response = await browser.mutate(`flow.${procedure}`, { type, ...input });
    answer = ((await response.json()) as { result: { data: PageAnswer } }).result.data;
    return answer.state;
  };
  await call("start", { capabilities });
  return {
    get redirectTo() {
      return answer?.redirect_to ?? "";
    },
    act: (action: string, input = {}) => call("act", { version: answer?.version, action, input }),
  };
}

/** Registers an account with a password and an authenticator app, in the middle of a sign-in to the console. */
async function register(browser: Visitor): Promise<{ returned: string; email: string }> {
  const email = newAddress();
  const page = await hostedPage(browser, "registration");
  await page.act("register_login_identifier", { email });
  await page.act("verify_passcode", { code: mailedCode(runtime, email) });
  let state = await page.act("register_password", { new_password: password });
  if (state.name === "mfa_method_chooser") state = await page.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(state.payload.otp_secret));
  state = await page.act("otp_code_verify", { otp_code: app.code(nowOf(runtime).getTime()) });
  expect(state.name).toBe("success");
  return { returned: page.redirectTo, email };
}

const reasonOf = (location: string) => new URL(location, base).searchParams.get("reason");

describe("the link of a service without operators", () => {
  let link = "";
  let later = "";
  beforeAll(async () => {
    link = (await firstOperatorLink(runtime, nowOf(runtime))) ?? "";
    later = (await firstOperatorLink(runtime, nowOf(runtime))) ?? "";
  });

  test("makes the first operator, who registers with a second factor", async () => {
    const browser = visitor(runtime);
    const signIn = new URL(await follow(browser, link));
    expect(signIn.pathname).toBe("/login");
    expect(signIn.searchParams.get("acr_values")).toBe("urn:stile:mfa");
    await follow(browser, signIn.href);
    const { returned } = await register(browser);
    expect(await follow(browser, returned)).toBe("/console");
    expect(browser.setCookies[0]).toMatch(
      /^stile-console=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    expect((await callConsole(browser, "me")).data).toMatchObject({
      role: "operator",
      is_default_tenant: true,
    });
  });

  test("A333 makes no second one, nor does another link, which is told before the sign-in", async () => {
    for (const used of [link, later, "/api/console/sign-in?invitation=unknown"]) {
      const browser = visitor(runtime);
      const refused = await follow(browser, used);
      expect([new URL(refused, base).pathname, reasonOf(refused)]).toEqual([
        "/console/refused",
        "operator_exists",
      ]);
      expect((await callConsole(browser, "me")).reason).toBe("signed_out");
    }
    expect(await firstOperatorLink(runtime, nowOf(runtime))).toBe(null);
  });
});

describe("without an operator", () => {
  const opened = async (on: TestRuntime) => {
    const browser = visitor(on);
    const link = (await firstOperatorLink(on, nowOf(on))) ?? "";
    await follow(browser, await follow(browser, link));
    return { browser, link };
  };

  test("A333 of two links that were opened at once one makes an operator", async () => {
    const fresh = await withoutOperators(runtime);
    const [first, second] = [await opened(fresh), await opened(fresh)];
    const ends = [];
    for (const { browser } of [first, second])
      ends.push(await follow(browser, (await register(browser)).returned));
    expect([ends[0], reasonOf(ends[1] ?? "")]).toEqual(["/console", "operator_exists"]);
  });

  test("A333 a link that is older than ten minutes, or unknown, leads to no sign-in", async () => {
    const fresh = await withoutOperators(runtime);
    const old = (await firstOperatorLink(fresh, new Date(nowOf(fresh).getTime() - 601_000))) ?? "";
    for (const link of [old, `${old}x`, "/api/console/sign-in?invitation="])
      expect(reasonOf(await follow(visitor(fresh), link))).toBe("invitation_used");
  });

  test("A333 a link is judged again after the sign-in, and used up once", async () => {
    const fresh = await withoutOperators(runtime);
    const { browser, link } = await opened(fresh);
    await query("update console_invitations set expires_at = now() - interval '1 second'");
    expect(reasonOf(await follow(browser, (await register(browser)).returned))).toBe("invitation_used");
    await query("update console_invitations set expires_at = now() + interval '1 minute'");
    const another = visitor(fresh);
    await follow(another, await follow(another, link));
    expect(await follow(another, (await register(another)).returned)).toBe("/console");
    expect((await query("select from console_invitations")).rows).toEqual([]);
  });
});

describe("a passkey that is created on the way to the console", () => {
  const able = { webauthn_available: true };
  const on = runtime.configured({
    STILE_PASSKEY_ENABLED: "true",
    STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "never",
    STILE_PASSKEY_ACQUIRE_ON_LOGIN: "always",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  });

  /** Creates a passkey in the state that asks for one. */
  async function createPasskey(
    page: Awaited<ReturnType<typeof hostedPage>>,
    isVerified: boolean,
  ): Promise<FlowState> {
    const { payload } = await page.act("webauthn_generate_creation_options");
    const authenticator = softwareAuthenticator({ userVerification: isVerified });
    const public_key = authenticator.create(payload.creation_options, { origin: base });
    return page.act("webauthn_verify_attestation_response", { public_key });
  }

  async function registerWithPasskey(browser: Visitor, isVerified: boolean) {
    const email = newAddress();
    const page = await hostedPage(browser, "registration", able);
    await page.act("register_login_identifier", { email });
    const offer = await page.act("verify_passcode", { code: mailedCode(on, email) });
    expect(offer.name).toBe("onboarding_create_passkey");
    return { page, state: await createPasskey(page, isVerified), email };
  }

  const factorsOf = async (email: string) =>
    (
      await on.database.read.$client.query(
        "select s.factors from sessions s join emails e on e.user_id = s.user_id where e.address = $1",
        [email],
      )
    ).rows.map(({ factors }) => factors);

  test("makes the first operator without a second factor, if it has verified its user", async () => {
    const fresh = await withoutOperators(on);
    const browser = visitor(fresh);
    const link = (await firstOperatorLink(fresh, nowOf(fresh))) ?? "";
    await follow(browser, await follow(browser, link));
    const { page, state, email } = await registerWithPasskey(browser, true);
    expect(state.name).toBe("success");
    expect(await follow(browser, page.redirectTo)).toBe("/console");
    expect(await factorsOf(email)).toEqual([
      [
        expect.objectContaining({ method: "passcode" }),
        expect.objectContaining({ method: "passkey", userVerified: true }),
      ],
    ]);
  });

  test("does not stand in for a second factor, if it has not verified its user", async () => {
    const browser = visitor(on);
    await follow(browser, await follow(browser, "/api/console/sign-in"));
    const { state } = await registerWithPasskey(browser, false);
    expect(state.name).toBe("mfa_method_chooser");
    expect(state.actions).not.toHaveProperty("skip");
  });

  test.each([
    [true, "success"],
    [false, "mfa_method_chooser"],
  ])("counts in a sign-in with a password, if it has verified its user (%s)", async (isVerified, next) => {
    const owner = await accountOwner(on, { password: true });
    await on.database.write.$client.query(
      "insert into console_grants (tenant_id, user_id, role) values ($1, $2, 'auditor')",
      [on.tenant.id, owner.userId],
    );
    const browser = visitor(on);
    await follow(browser, await follow(browser, "/api/console/sign-in"));
    const page = await hostedPage(browser, "login", able);
    const chosen = await page.act("continue_with_login_identifier", { email: owner.addresses[0] });
    if (chosen.name !== "login_password") await page.act("continue_to_password_login");
    expect((await page.act("password_login", { password })).name).toBe("onboarding_create_passkey");
    expect((await createPasskey(page, isVerified)).name).toBe(next);
    if (isVerified) expect(await follow(browser, page.redirectTo)).toBe("/console");
  });
});

const withoutOperators = async (configured: TestRuntime) => {
  await configured.database.write.$client.query("delete from console_grants");
  await configured.database.write.$client.query("delete from console_invitations");
  return configured;
};

/** Signs a user in at the hosted page with a password alone, on the way to the console. */
async function withPassword(
  browser: Visitor,
  on: TestRuntime,
  email: string,
  to = "/console/x/users?page=2",
): Promise<string> {
  await follow(browser, await follow(browser, `/api/console/sign-in?${new URLSearchParams({ to })}`));
  const page = await hostedPage(browser, "login");
  const chosen = await page.act("continue_with_login_identifier", { email });
  if (chosen.name !== "login_password") await page.act("continue_to_password_login");
  const state = await page.act("password_login", { password });
  expect([on.config.console.require, state.name]).toEqual(["any", "success"]);
  return page.redirectTo;
}

describe("with any sign-in allowed", () => {
  const lax = runtime.configured({ STILE_PASSKEY_ENABLED: "false", STILE_CONSOLE_REQUIRE: "any" });
  const made = async () => {
    const owner = await accountOwner(lax, { password: true });
    return { ...owner, email: owner.addresses[0] ?? "" };
  };

  test("an account without a role is told so, and the attempt is in the audit log", async () => {
    const { email, userId } = await made();
    const browser = visitor(lax);
    const returned = await withPassword(browser, lax, email);
    expect(reasonOf(await follow(browser, returned))).toBe("no_role");
    const { rows } = await lax.database.read.$client.query(
      "select details from audit_logs where type = 'console_entry_rejected' and user_id = $1",
      [userId],
    );
    expect(rows).toEqual([{ details: expect.objectContaining({ reason: "no_role" }) }]);
  });

  test("an account whose verified address the configuration names has its role", async () => {
    const { email } = await made();
    const named = lax.configured({
      STILE_PASSKEY_ENABLED: "false",
      STILE_CONSOLE_REQUIRE: "any",
      STILE_CONSOLE_ROLES: JSON.stringify({ [email]: "support" }),
    });
    const browser = visitor(named);
    const returned = await withPassword(browser, named, email);
    expect(await follow(browser, returned)).toBe("/console/x/users?page=2");
    expect((await callConsole(browser, "me")).data.role).toBe("support");
    await named.database.write.$client.query("update emails set verified_at = null where address = $1", [
      email,
    ]);
    expect((await callConsole(browser, "me")).reason).toBe("signed_out");
  });

  test.each([
    "https://evil.example/console",
    "//evil.example/console",
    "/\\evil.example/console",
    "/consoles",
    "/console/../login",
  ])("A334 the way back does not lead to %s", async (to) => {
    const { email, userId } = await made();
    await lax.database.write.$client.query(
      "insert into console_grants (tenant_id, user_id, role) values ($1, $2, 'auditor')",
      [lax.tenant.id, userId],
    );
    const browser = visitor(lax);
    expect(await follow(browser, await withPassword(browser, lax, email, to))).toBe("/console");
  });

  test("A334 a code of the sign-in is worth nothing in another browser, nor twice", async () => {
    const { email } = await made();
    const browser = visitor(lax);
    const returned = await withPassword(browser, lax, email);
    expect(reasonOf(await follow(visitor(lax), returned))).toBe("interrupted");
    await follow(browser, returned);
    expect(reasonOf(await follow(browser, returned))).toBe("interrupted");
  });
});

describe("a session of the console", () => {
  test("A335 changes nothing with a sign-in that is long ago, and does after another one", async () => {
    const stale = await consoleAccount(runtime, "operator", { secondsAgo: 901 });
    const user = await consoleAccount(runtime, null);
    expect((await stale.call("listUsers")).status).toBe(200);
    expect((await stale.call("blockUser", { id: user.userId })).reason).toBe("step_up_required");
    expect((await stale.call("getUser", { id: user.userId })).data.blocked_at).toBe(undefined);
    const fresh = await consoleAccount(runtime, "operator");
    expect((await fresh.call("blockUser", { id: user.userId })).status).toBe(200);
  });

  test("A335 ends with its sign-in, its account's block and its account's role", async () => {
    const ends: [string, (userId: string) => Promise<unknown>][] = [
      ["session", (id) => query("delete from sessions where user_id = $1", id)],
      ["block", (id) => query("update users set blocked_at = now() where id = $1", id)],
      ["role", (id) => query("delete from console_grants where user_id = $1", id)],
      [
        "idle",
        (id) =>
          query(
            `update console_sessions c set last_used_at = now() - interval '31 minutes'
        from sessions s where s.id = c.session_id and s.user_id = $1`,
            id,
          ),
      ],
      [
        "expired",
        (id) =>
          query(
            `update console_sessions c set expires_at = now() - interval '1 second'
        from sessions s where s.id = c.session_id and s.user_id = $1`,
            id,
          ),
      ],
    ];
    for (const [end, apply] of ends) {
      const account = await consoleAccount(runtime, "operator");
      expect((await account.call("me")).status).toBe(200);
      await apply(account.userId);
      expect([end, (await account.call("me")).reason]).toEqual([end, "signed_out"]);
    }
  });

  test("ends when its user signs out of the console, and that of the sign-in goes on", async () => {
    const { browser, call, userId } = await consoleAccount(runtime, "auditor");
    expect((await browser.submit("/api/console/sign-out", {})).status).toBe(204);
    expect((await call("me")).reason).toBe("signed_out");
    const { rows } = await query("select id from sessions where user_id = $1", userId);
    expect(rows).toHaveLength(1);
  });

  test("A336 is of no use to pages of other origins, nor for other addresses", async () => {
    const { browser } = await consoleAccount(runtime, "operator");
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      {},
    ] as Record<string, string>[]) {
      const answer = await browser.post("/api/console/trpc/me", {}, headers);
      expect([headers, answer.status]).toEqual([headers, 403]);
    }
    expect(
      (await browser.request("/api/console/trpc/me", { headers: { "sec-fetch-site": "same-origin" } }))
        .status,
    ).toBe(405);
    expect((await browser.request("/admin/users")).status).toBe(401);
    expect((await browser.request("/me")).status).toBe(401);
  });

  test("A336 is not looked for at another host, nor where the console is off", async () => {
    const { browser } = await consoleAccount(runtime, "operator");
    const atTenant = { host: "127.0.0.1:3000", "sec-fetch-site": "same-origin" };
    expect((await browser.post("/api/console/trpc/me", {}, atTenant)).status).toBe(404);
    const off = visitor(runtime.configured({ STILE_CONSOLE_ENABLED: "false" }));
    for (const [name, value] of browser.cookies) off.cookies.set(name, value);
    expect((await callConsole(off, "me")).status).toBe(404);
    expect((await off.request("/api/console/sign-in")).status).toBe(404);
  });

  test("A337 a file is not collected in memory, and a large body of a visitor without a session not read", async () => {
    const account = await consoleAccount(runtime, "auditor");
    expect(await account.call("exportUsers")).toMatchObject({
      status: 400,
      message: "The answer is a file: download it.",
    });
    const download = (form: Record<string, string>, site = "same-origin") =>
      account.browser.request("/api/console/download/exportUsers", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": site },
        body: new URLSearchParams(form).toString(),
      });
    const form = { input: JSON.stringify({ query: { format: "csv" } }) };
    expect((await download(form, "cross-site")).status).toBe(403);
    expect((await download({ input: "[]" })).status).toBe(400);
    expect((await download({ input: JSON.stringify("x".repeat(100_000)) })).status).toBe(413);
    const file = await download(form);
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="exportUsers.csv"');
    expect(await file.text()).toContain(account.email);
    const large = { query: "x".repeat(100_000) };
    expect((await callConsole(visitor(runtime), "listUsers", large)).status).toBe(413);
    expect((await account.call("listUsers", large)).status).toBe(400);
  });

  test("A337 an unexpected error is not told, and what is unavailable is said to be so", async () => {
    const { browser } = await consoleAccount(runtime, "operator");
    const { database } = runtime;
    const failing = (error: Error) => ({
      ...runtime,
      database: {
        ...database,
        read: new Proxy(database.read, {
          get: () => {
            throw error;
          },
        }),
      },
    });
    const message = async (error: Error) => {
      const other = visitor(failing(error) as TestRuntime);
      for (const [name, value] of browser.cookies) other.cookies.set(name, value);
      const answer = await callConsole(other, "me");
      return [answer.status, answer.message];
    };
    expect(await message(new Error("Failed query: select secret"))).toEqual([500, "The call failed."]);
    expect(await message(new ConfigError("a tenant's settings are invalid"))).toEqual([
      503,
      "The service is busy. Try again.",
    ]);
  });

  test("a change that is made is answered as such, and recorded, also where it cannot be read again", async () => {
    const { browser, call } = await consoleAccount(runtime, "administrator");
    const { userId } = await accountOwner(runtime);
    const { database } = runtime;
    let isLost = false;
    const read = new Proxy(database.read, {
      get(target, name) {
        if (isLost) throw new Error("the connection is lost");
        return Reflect.get(target, name);
      },
    });
    const transaction = async (...given: Parameters<typeof database.write.transaction>) => {
      const result = await database.write.transaction(...given);
      isLost = true;
      return result;
    };
    const write = new Proxy(database.write, {
      get: (target, name) => (name === "transaction" ? transaction : Reflect.get(target, name)),
    });
    const other = visitor({ ...runtime, database: { ...database, read, write } } as TestRuntime);
    for (const [name, value] of browser.cookies) other.cookies.set(name, value);
    expect((await callConsole(other, "blockUser", { id: userId })).status).toBe(200);
    expect(isLost).toBe(true);
    const { data } = await call("listAuditLogs", { query: { type: ["console_changed"] } });
    expect(data.items[0].details).toMatchObject({
      operation: "blockUser",
      of: [userId],
      changes: ["not read"],
    });
  });

  test("A337 a call with junk has an answer", async () => {
    const { browser, call } = await consoleAccount(runtime, "operator");
    const inputs = [
      null,
      1,
      "x",
      [],
      { query: 1 },
      { body: [] },
      { tenant: 1 },
      { tenant: "x", id: {} },
      { id: [1] },
    ];
    for (const procedure of ["listUsers", "getUser", "createUser", "changeOwnTenant"])
      for (const input of inputs) expect((await call(procedure, input as object)).status).toBeLessThan(500);
    const send = (body: string) =>
      browser.post("/api/console/trpc/listUsers", body, { "sec-fetch-site": "same-origin" });
    for (const body of ["{", '{"a":1,"a":2}', '"'.repeat(10)]) expect((await send(body)).status).toBe(400);
    expect((await send(`"${"x".repeat(1_100_000)}"`)).status).toBe(413);
    expect((await call("noSuchProcedure")).status).toBe(404);
    const many = Array.from({ length: 21 }, () => "me").join(",");
    expect(
      (await browser.post(`/api/console/trpc/${many}?batch=1`, {}, { "sec-fetch-site": "same-origin" }))
        .status,
    ).toBe(400);
  });
});

const query = (text: string, ...values: string[]) => runtime.database.write.$client.query(text, values);

test("an account of a tenant enters with its own role and reaches its own tenant alone", async () => {
  const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the tenant is missing");
  const browser = visitor(runtime);
  const signIn = new URL(await follow(browser, `/api/console/sign-in?tenant=${id}`));
  expect(signIn.pathname).toBe(`/t/${id}/login`);
  expect((await browser.request(signIn.pathname + signIn.search)).status).toBe(303);
  const administrator = await consoleAccount(runtime, "administrator", { tenant });
  const { data } = await administrator.call("listUsers");
  expect(data.items.map((user: { id: string }) => user.id)).toEqual([administrator.userId]);
  expect((await administrator.call("getUser", { id: randomUUID() })).status).toBe(404);
});

import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { revokeRole } from "../../console/grants.ts";
import type { FlowState } from "../../flow/wire.ts";
import { codeChallengeOf } from "../../lib/pkce.ts";
import type { MailContent } from "../../mail/mail-job.ts";
import { createMailWriter } from "../../mail/mail-writer.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { type ConsoleAccount, callConsole, consoleAccount } from "../../testing/console-account.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password } from "../../testing/people.ts";
import { requestContext } from "../../testing/request-context.ts";
import { chooseMethod, restWalk } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** An operator signs in as a user. */

const runtime = await runtimeForTests();
const base = runtime.config.base_url;
const { $client } = runtime.database.write;
const reason = "Ticket 4711: sees no invoices";

const rowsOf = async (text: string, values: unknown[] = []) => (await $client.query(text, values)).rows;

/** Asks for the link of a user. */
const ask = (operator: ConsoleAccount, userId: string, body: object = { reason }) =>
  operator.call("impersonateUser", { id: userId, body });

/** Opens an address of this service. @returns the answer, and where it leads */
async function open(browser: Visitor, address: string) {
  const { pathname, search } = new URL(address, base);
  const answer = await browser.request(pathname + search);
  return { status: answer.status, to: answer.headers.get("location") ?? "", text: () => answer.text() };
}

/** Follows the link as far as the page with the button. @returns the code of its form, and what it says */
async function toPage(browser: Visitor, link: string): Promise<{ code: string; text: string }> {
  let address = link;
  for (let step = 0; step < 3; step += 1) address = (await open(browser, address)).to;
  const page = await open(browser, address);
  expect(page.status).toBe(200);
  const text = await page.text();
  return { code: /name="code" value="([^"]+)"/.exec(text)?.[1] ?? "", text };
}

const press = (browser: Visitor, code: string, prefix = "") =>
  browser.submit(`${prefix}/impersonation`, { code });

/** Signs an operator in as a user, in the browser of the console. */
async function actAs(operator: ConsoleAccount, userId: string, body?: object): Promise<Visitor> {
  const { data } = await ask(operator, userId, body);
  const { code } = await toPage(operator.browser, data.url);
  const answer = await press(operator.browser, code);
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/?flow=profile"]);
  return operator.browser;
}

const impersonated = async (userId: string) =>
  rowsOf("select * from sessions where user_id = $1 and impersonation is not null", [userId]);

/** The newest mail to an address. */
function mailTo(address: string | undefined): MailContent {
  const job = runtime.enqueued.findLast(({ to }) => to === address);
  if (!job) throw new Error("nothing was mailed");
  return job.mail;
}

const isSignedIn = async (browser: Visitor) => (await browser.request("/me")).status === 200;

describe("an operator who signs in as a user", () => {
  let operator: ConsoleAccount;
  let owner: Awaited<ReturnType<typeof accountOwner>>;
  let browser: Visitor;

  beforeAll(async () => {
    operator = await consoleAccount(runtime, "operator");
    owner = await accountOwner(runtime, { password: true });
    browser = await actAs(operator, owner.userId);
  });

  test("has a token that names the operator, and is of another type than those of users", async () => {
    const token = browser.cookies.get("service") ?? "";
    expect(decodeProtectedHeader(token).typ).toBe("impersonation+jwt");
    expect(decodeJwt(token)).toMatchObject({
      sub: owner.userId,
      act: { sub: operator.userId, iss: base, role: "operator" },
    });
    const validated = await (
      await visitor(runtime).post("/sessions/validate", { session_token: token })
    ).json();
    expect(validated).toMatchObject({
      is_valid: true,
      user_id: owner.userId,
      claims: { act: { sub: operator.userId, role: "operator" } },
    });
  });

  test("sees the account, and who acts until when and why", async () => {
    expect(await (await browser.request("/me")).json()).toMatchObject({ user_id: owner.userId });
    const profile = await restWalk(runtime, "profile", browser);
    const state = await profile.act("register_client_capabilities");
    expect(state.payload.impersonation).toMatchObject({ name: operator.email, reason });
    const until = Date.parse((state.payload.impersonation as { until: string }).until);
    expect(until - Date.now()).toBeLessThanOrEqual(900_000);
  });

  test("is seen by the owner among the sessions, by operators too, and can be ended by both", async () => {
    const by = {
      user_id: operator.userId,
      tenant_id: runtime.tenant.id,
      role: "operator",
      name: operator.email,
      reason,
    };
    const own = await owner.manage();
    const sessions = own.state.payload.sessions as { impersonated_by?: object }[];
    expect(sessions.flatMap(({ impersonated_by }) => impersonated_by ?? [])).toEqual([by]);
    const { data } = await operator.call("listUserSessions", { id: owner.userId });
    expect(data.flatMap((session: { impersonated_by?: object }) => session.impersonated_by ?? [])).toEqual([
      by,
    ]);
  });

  test("is no sign-in of the user, and ends no session of the user", async () => {
    const [user] = await rowsOf("select last_sign_in_at from users where id = $1", [owner.userId]);
    const [{ count }] = await rowsOf(
      "select count(*)::int from audit_logs where user_id = $1 and type = 'login_success'",
      [owner.userId],
    );
    const before = (await rowsOf("select 1 from sessions where user_id = $1", [owner.userId])).length;
    const limit = runtime.config.session.limit;
    for (let index = before; index < limit + 1; index += 1) await owner.signInElsewhere();
    const again = await consoleAccount(runtime, "operator");
    await actAs(again, owner.userId);
    const after = await rowsOf("select 1 from sessions where user_id = $1 and impersonation is null", [
      owner.userId,
    ]);
    expect([count, after.length]).toEqual([0, limit]);
    const [later] = await rowsOf("select last_sign_in_at from users where id = $1", [owner.userId]);
    expect(later.last_sign_in_at).not.toBe(null);
    expect(user.last_sign_in_at).not.toBe(undefined);
  });

  test("is in the audit log and the timeline with the reason, and the owner is mailed", async () => {
    const { data } = await operator.call("listAuditLogs", { query: { type: ["impersonation_started"] } });
    const entry = data.items.find(
      ({ actor_user_id }: { actor_user_id: string }) => actor_user_id === owner.userId,
    );
    expect(entry.details).toMatchObject({ operator: expect.any(String), why: reason });
    const timeline = await operator.call("getUserTimeline", {
      id: owner.userId,
      query: { kind: ["session"] },
    });
    expect(JSON.stringify(timeline.data)).toContain("An operator signed in as the user.");
    expect(mailTo(owner.addresses[0])).toMatchObject({ type: "impersonation", minutes: 15, reason });
  });

  test("changes the name, which is recorded as done by the operator", async () => {
    const profile = await restWalk(runtime, "profile", browser);
    await profile.act("register_client_capabilities");
    await profile.act("name_update", { name: "Ada Lovelace" });
    const [entry] = await rowsOf(
      "select details from audit_logs where user_id = $1 and type = 'profile_changed' order by created_at desc limit 1",
      [owner.userId],
    );
    expect(entry.details).toMatchObject({ operator: operator.userId });
  });

  test("ends it, and goes back to the user in the console", async () => {
    const ended = await browser.post("/logout", undefined, { "sec-fetch-site": "same-origin" });
    expect([ended.status, ended.headers.get("x-provider-logout")]).toEqual([
      204,
      `${base}/console/${runtime.tenant.id}/users/${owner.userId}`,
    ]);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await operator.call("me")).status).toBe(200);
    const types = await rowsOf(
      "select type, details from audit_logs where user_id = $1 order by created_at desc limit 1",
      [owner.userId],
    );
    expect(types).toMatchObject([{ type: "impersonation_ended", details: { operator: operator.userId } }]);
  });
});

test("is counted neither among the live sessions nor among the sign-ins of the user, and the timeline says who acts", async () => {
  const untold = runtime.configured({
    STILE_AUDIT_LOG_STORAGE_ENABLED: "false",
    STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED: "true",
  });
  const operator = await consoleAccount(untold, "operator");
  const user = await accountOwner(untold);
  const counts = async () => {
    const { data } = await operator.call("getOverview", { query: {} });
    const { payload } = (await user.manage()).state;
    return [data.active_sessions.count, (payload.sign_ins as object[]).length];
  };
  const before = await counts();
  await actAs(operator, user.userId);
  expect(await counts()).toEqual(before);
  const { data } = await operator.call("getUserTimeline", { id: user.userId, query: { kind: ["session"] } });
  expect(data.happenings.filter(({ by_operator }: { by_operator: boolean }) => by_operator)).toMatchObject([
    { type: "session_live", details: { operator: operator.userId, why: reason } },
  ]);
});

test("a sign-in in the same browser ends it, which is in the audit log", async () => {
  const operator = await consoleAccount(runtime, "operator");
  const [user, other] = [await accountOwner(runtime), await accountOwner(runtime, { password: true })];
  const browser = await actAs(operator, user.userId);
  const [acted] = await impersonated(user.userId);
  const login = await restWalk(runtime, "login", browser);
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email: other.addresses[0] });
  await chooseMethod(login, "continue_to_password_login");
  expect((await login.act("password_login", { password })).name).toBe("success");
  expect(await impersonated(user.userId)).toEqual([]);
  const entries = await rowsOf(
    "select details from audit_logs where user_id = $1 and type = 'impersonation_ended'",
    [user.userId],
  );
  expect(entries).toMatchObject([{ details: { operator: operator.userId, session_id: acted.id } }]);
});

test("the page says that another session of the browser is replaced, which goes on", async () => {
  const operator = await consoleAccount(runtime, "administrator");
  const [user, other] = [await accountOwner(runtime), await accountOwner(runtime)];
  operator.browser.cookies.set("service", other.sessionToken);
  const { data } = await ask(operator, user.userId);
  const { code, text } = await toPage(operator.browser, data.url);
  expect(text).toContain("This browser is signed in here already");
  await press(operator.browser, code);
  expect(await (await operator.browser.request("/me")).json()).toMatchObject({ user_id: user.userId });
  const before = visitor(runtime);
  before.cookies.set("service", other.sessionToken);
  expect(await isSignedIn(before)).toBe(true);
});

describe("it ends", () => {
  const begun = async () => {
    const operator = await consoleAccount(runtime, "administrator");
    const user = await accountOwner(runtime);
    const browser = await actAs(operator, user.userId);
    expect(await isSignedIn(browser)).toBe(true);
    return { operator, user, browser };
  };

  test("with the session of the console", async () => {
    const { operator, user, browser } = await begun();
    await browser.post("/api/console/sign-out", undefined, { "sec-fetch-site": "same-origin" });
    expect(await isSignedIn(browser)).toBe(false);
    const other = await consoleAccount(runtime, "auditor");
    const { data } = await other.call("listUserSessions", { id: user.userId });
    expect(data.filter(({ impersonated_by }: { impersonated_by?: object }) => impersonated_by)).toEqual([]);
    expect(operator.userId).not.toBe(user.userId);
  });

  test("A329 with the role of the operator, or a weaker one", async () => {
    const { operator, browser } = await begun();
    const other = await consoleAccount(runtime, "operator");
    await other.call("setConsoleRole", { id: operator.userId, body: { role: "support" } });
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("A329 in another tenant, where the operator has become an administrator", async () => {
    const { id } = await createTenant(runtime, { name: "Elsewhere", hosts: [], settings: {} });
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the tenant is missing");
    const elsewhere = { ...runtime, tenant };
    const prefix = `/t/${id}`;
    const operator = await consoleAccount(runtime, "operator");
    const other = await consoleAccount(runtime, "operator");
    const [user, asked, own] = [
      await accountOwner(elsewhere),
      await accountOwner(elsewhere),
      await accountOwner(runtime),
    ];
    const linkOf = async (userId: string) =>
      (await operator.call("impersonateUser", { tenant: id, id: userId, body: { reason } })).data.url;
    const page = await toPage(operator.browser, await linkOf(asked.userId));
    const begun = await toPage(operator.browser, await linkOf(user.userId));
    expect((await press(operator.browser, begun.code, prefix)).status).toBe(303);
    const isActing = async () => (await operator.browser.request(`${prefix}/me`)).status === 200;
    expect(await isActing()).toBe(true);
    await other.call("setConsoleRole", { id: operator.userId, body: { role: "administrator" } });
    expect(await isActing()).toBe(false);
    expect((await press(operator.browser, page.code, prefix)).status).toBe(410);
    expect(await impersonated(asked.userId)).toEqual([]);
    await actAs(operator, own.userId);
    expect(await isSignedIn(operator.browser)).toBe(true);
  });

  test("with the sessions of the user, by the operator or by a block", async () => {
    const { operator, user, browser } = await begun();
    expect((await operator.call("endUserSessions", { id: user.userId })).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(false);
    const again = await begun();
    await again.operator.call("blockUser", { id: again.user.userId });
    expect(await isSignedIn(again.browser)).toBe(false);
  });

  test("with a role of the console that the user gets", async () => {
    const { user, browser } = await begun();
    const other = await consoleAccount(runtime, "operator");
    await other.call("setConsoleRole", { id: user.userId, body: { role: "auditor" } });
    expect(await isSignedIn(browser)).toBe(false);
  });
});

test("it ends with a role that the configuration gives to an address which the user verifies", async () => {
  const address = "help@corp.example";
  const named = runtime.configured({ STILE_CONSOLE_ROLES: JSON.stringify({ [address]: "auditor" }) });
  const operator = await consoleAccount(named, "operator");
  const user = await accountOwner(named, { unverified: address });
  const browser = await actAs(operator, user.userId);
  expect(await isSignedIn(browser)).toBe(true);
  await rowsOf("update emails set verified_at = now() where address = $1", [address]);
  expect(await isSignedIn(browser)).toBe(false);
});

describe("A324 who may not", () => {
  test.each(["auditor", "support"] as const)(
    "the role %s, who calls the operation directly",
    async (role) => {
      const account = await consoleAccount(runtime, role);
      const user = await accountOwner(runtime);
      expect(await ask(account, user.userId)).toMatchObject({ status: 403, reason: "forbidden" });
      expect(await impersonated(user.userId)).toEqual([]);
    },
  );

  test("an API key, which names no person", async () => {
    const user = await accountOwner(runtime);
    const key = await adminOperator(runtime);
    expect((await key.call("POST", `/users/${user.userId}/impersonations`, { reason })).status).toBe(403);
  });

  test("an operator who asks for a session that names no operator", async () => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime);
    const sessions = () => rowsOf("select id from sessions where user_id = $1", [user.userId]);
    const before = await sessions();
    const refused = await operator.call("createSession", { body: { user_id: user.userId } });
    expect(refused).toMatchObject({ status: 403, reason: "key_required" });
    expect(refused.message).toContain("API key");
    expect((await operator.call("me", undefined)).data.procedures).not.toContain("createSession");
    expect(await sessions()).toEqual(before);
    const key = await adminOperator(runtime);
    expect((await key.call("POST", "/sessions", { user_id: user.userId })).status).toBe(200);
  });

  test("an operator whose sign-in is not recent", async () => {
    const operator = await consoleAccount(runtime, "operator", { secondsAgo: 3600 });
    const user = await accountOwner(runtime);
    expect((await ask(operator, user.userId)).reason).toBe("step_up_required");
  });

  test("an operator, where it is off", async () => {
    const off = runtime.configured({ STILE_CONSOLE_IMPERSONATION_ENABLED: "false" });
    const operator = await consoleAccount(off, "operator");
    const user = await accountOwner(off);
    expect((await ask(operator, user.userId)).status).toBe(403);
  });
});

describe("A325 users as whom no operator signs in", () => {
  test.each(["auditor", "operator"] as const)("a user with the role %s", async (role) => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await consoleAccount(runtime, role);
    expect((await ask(operator, user.userId)).status).toBe(403);
  });

  test("the operator", async () => {
    const operator = await consoleAccount(runtime, "operator");
    expect((await ask(operator, operator.userId)).status).toBe(403);
  });

  test("a user of another tenant, and one who is blocked", async () => {
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the tenant is missing");
    const administrator = await consoleAccount(runtime, "administrator", { tenant });
    const user = await accountOwner(runtime);
    expect((await ask(administrator, user.userId)).status).toBe(404);
    const named = { tenant: runtime.tenant.id, id: user.userId, body: { reason } };
    expect((await administrator.call("impersonateUser", named)).reason).toBe("not_found");
    const operator = await consoleAccount(runtime, "operator");
    await operator.call("blockUser", { id: user.userId });
    expect((await ask(operator, user.userId)).status).toBe(409);
  });
});

describe("A326 the link", () => {
  const asked = async () => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime);
    const { data } = await ask(operator, user.userId);
    return { operator, user, url: data.url as string };
  };

  test("opened in another browser leads nowhere, at any step", async () => {
    const { operator, user, url } = await asked();
    const stranger = visitor(runtime);
    expect((await open(stranger, url)).status).toBe(410);
    const other = await consoleAccount(runtime, "operator");
    expect((await open(other.browser, url)).status).toBe(410);
    const toTenant = (await open(operator.browser, url)).to;
    const toConsole = (await open(stranger, toTenant)).to;
    expect((await open(stranger, toConsole)).status).toBe(410);
    const { code } = await toPage(operator.browser, url);
    expect((await press(stranger, code)).status).toBe(410);
    expect((await open(stranger, `/impersonation?code=${code}`)).status).toBe(410);
    expect(await impersonated(user.userId)).toEqual([]);
  });

  test("is used once", async () => {
    const { operator, user, url } = await asked();
    const first = await toPage(operator.browser, url);
    const verifier = [...operator.browser.cookies];
    expect((await press(operator.browser, first.code)).status).toBe(303);
    for (const [name, value] of verifier) operator.browser.cookies.set(name, value);
    expect((await press(operator.browser, first.code)).status).toBe(410);
    const second = await toPage(operator.browser, url);
    expect((await press(operator.browser, second.code)).status).toBe(410);
    expect(await impersonated(user.userId)).toHaveLength(1);
  });

  test("is used within a minute, and its code within a minute after", async () => {
    const { operator, user, url } = await asked();
    const start = Date.now();
    const { code } = await toPage(operator.browser, url);
    const at = async <Answer>(seconds: number, answer: () => Promise<Answer>) => {
      const time = vi.spyOn(Date, "now").mockReturnValue(start + seconds * 1000);
      return answer().finally(() => time.mockRestore());
    };
    expect((await at(58, () => open(operator.browser, url))).status).toBe(303);
    const answers = [
      await at(62, () => open(operator.browser, url)),
      await at(62, () => open(operator.browser, `/impersonation?code=${code}`)),
      await at(62, () => press(operator.browser, code)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([410, 410, 410]);
    expect(await impersonated(user.userId)).toEqual([]);
  });

  test("is not used again while another code of it is valid", async () => {
    const { operator, user, url } = await asked();
    const first = await toPage(operator.browser, url);
    expect((await press(operator.browser, first.code)).status).toBe(303);
    const [{ left }] = await rowsOf(
      "select extract(epoch from max(expires_at) - now())::int as left from seen_assertions",
    );
    expect(left).toBeGreaterThanOrEqual(110);
    expect(await impersonated(user.userId)).toHaveLength(1);
  });

  test("made up, damaged, repeated or huge is refused", async () => {
    const { operator, url } = await asked();
    const sealed = new URL(url).searchParams.get("ticket") ?? "";
    for (const ticket of ["", "x", `${sealed.slice(0, -3)}AAA`, "A".repeat(7000)]) {
      expect((await open(operator.browser, `/api/console/act-as?ticket=${ticket}`)).status).toBe(410);
      expect((await open(operator.browser, `/impersonation?ticket=${ticket}`)).status).toBe(410);
      expect((await open(operator.browser, `/impersonation?code=${ticket}`)).status).toBe(410);
    }
    const crossSite = await operator.browser.submit(
      "/impersonation",
      { code: sealed },
      { "sec-fetch-site": "cross-site" },
    );
    expect(crossSite.status).toBe(403);
  });

  test("begins nothing while a server of another release runs, which started in between", async () => {
    const { operator, user, url } = await asked();
    const { code } = await toPage(operator.browser, url);
    const [{ id }] = await rowsOf(
      "insert into instances (id, leased_until, version) values (gen_random_uuid(), now() + interval '1 minute', '0.0.1') returning id",
    );
    const answer = await press(operator.browser, code);
    await rowsOf("delete from instances where id = $1", [id]);
    expect(answer.status).toBe(410);
    expect(await impersonated(user.userId)).toEqual([]);
  });

  test("A329 whose operator has lost the role, or left the console, in between begins nothing", async () => {
    for (const end of ["role", "console"] as const) {
      const { operator, user, url } = await asked();
      const { code } = await toPage(operator.browser, url);
      if (end === "role") await revokeRole({ ...requestContext(runtime), runtime }, operator.userId);
      else
        await rowsOf(
          "delete from console_sessions where session_id in (select id from sessions where user_id = $1)",
          [operator.userId],
        );
      expect((await press(operator.browser, code)).status).toBe(410);
      expect(await impersonated(user.userId)).toEqual([]);
    }
  });
});

describe("A327 what an operator who acts as a user cannot change", () => {
  const sensitive = [
    "password_create",
    "password_update",
    "password_delete",
    "email_create",
    "email_delete",
    "email_set_primary",
    "email_verify",
    "username_create",
    "username_update",
    "username_delete",
    "phone_set",
    "phone_delete",
    "webauthn_credential_create",
    "webauthn_credential_rename",
    "webauthn_credential_delete",
    "security_key_create",
    "security_key_delete",
    "continue_to_otp_secret_creation",
    "otp_secret_delete",
    "recovery_codes_create",
    "trusted_device_delete",
    "account_delete",
    "connect_thirdparty_oauth_provider",
    "session_delete",
    "session_delete_others",
    "application_revoke",
  ];

  test("is offered by no interface: REST, tRPC and the account page", async () => {
    const open = runtime.configured({
      STILE_SESSION_STEP_UP_AFTER: "0",
      STILE_ACCOUNT_ALLOW_DELETION: "true",
    });
    const operator = await consoleAccount(open, "operator");
    const user = await accountOwner(open, { password: true, emails: 2, username: "ada", passkeys: 2 });
    const browser = await actAs(operator, user.userId);
    const own = await user.manage();
    const offered = Object.keys(own.state.actions);
    expect(offered).toEqual(expect.arrayContaining(["password_update", "email_create", "account_delete"]));
    const profile = await restWalk(open, "profile", browser);
    await profile.act("register_client_capabilities");
    expect(profile.state.name).toBe("profile_init");
    expect(Object.keys(profile.state.actions).filter((name) => sensitive.includes(name))).toEqual([]);
    const flow = /action=[^%@]+(?:%40|@)([\w-]+)/.exec(
      Object.values(profile.state.actions)[0]?.href ?? "",
    )?.[1];
    const { csrf_token } = profile.state;
    for (const action of sensitive) {
      const input_data = { password: "a password of an operator", email: "mine@example.com" };
      const answer = await browser.post(`/profile?action=${action}%40${flow}`, { csrf_token, input_data });
      expect([action, ((await answer.json()) as FlowState).error?.code]).toEqual([
        action,
        "operation_not_permitted_error",
      ]);
    }
    const trpc = await browser.mutate("flow.start", { type: "profile", capabilities: {} });
    const { result } = (await trpc.json()) as { result: { data: { version: number; state: FlowState } } };
    expect(Object.keys(result.data.state.actions).filter((name) => sensitive.includes(name))).toEqual([]);
    const acted = await browser.mutate("flow.act", {
      type: "profile",
      version: result.data.version,
      action: "account_delete",
      input: {},
    });
    expect(JSON.stringify(await acted.json())).toContain("operation_not_permitted_error");
    const form = await browser.submit("/step", {
      flow: "profile",
      version: String(result.data.version),
      action: "account_delete",
    });
    expect(form.status).toBeLessThan(500);
    expect(await rowsOf("select 1 from users where id = $1", [user.userId])).toHaveLength(1);
  });

  test("leads to no step-up: a flow in which the owner is asked for a proof goes on with no session of an operator", async () => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime, { password: true }, { secondsAgo: 7200 });
    const browser = await actAs(operator, user.userId);
    const own = visitor(runtime);
    own.cookies.set("service", user.sessionToken);
    const profile = await restWalk(runtime, "profile", own);
    await profile.act("register_client_capabilities");
    await profile.act("password_update", { password: "another password of mine" });
    expect(profile.state.payload.wanted_action).toBe("password_update");
    own.cookies.set("service", browser.cookies.get("service") ?? "");
    const [proof] = Object.keys(profile.state.actions).filter((name) => name !== "back");
    await profile.act(proof ?? "", { password: "seven herons over the lake" });
    expect(profile.state.error?.code).toBe("operation_not_permitted_error");
  });

  test("does not lead into the console", async () => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime);
    const browser = await actAs(operator, user.userId);
    const session = visitor(runtime);
    session.cookies.set("service", browser.cookies.get("service") ?? "");
    expect((await callConsole(session, "me")).reason).toBe("signed_out");
  });
});

describe("A328 a reason or a length", () => {
  test.each([
    ["no reason", {}],
    ["an empty reason", { reason: "   " }],
    ["a reason of 10 000 characters", { reason: "x".repeat(10_000) }],
    ["a reason of several lines", { reason: "one\ntwo" }],
    ["a reason of several paragraphs", { reason: "one\u2029two" }],
    ["a reason with a separator of lines", { reason: "one\u2028two" }],
    ["a reason without a letter or digit", { reason: "-- ... --" }],
    ["a reason of characters without a shape", { reason: "\u200b\u2060\u00ad" }],
    ["a reason that turns its reader's line around", { reason: "a \u202e b" }],
    ["more than an hour", { reason, lifetime: 3601 }],
    ["no time", { reason, lifetime: 0 }],
    ["half a second", { reason, lifetime: 60.5 }],
    ["another member", { reason, forever: true }],
  ])("%s is refused", async (_, body) => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime);
    expect((await ask(operator, user.userId, body)).status).toBe(400);
  });

  test("a reason of markup is shown as text", async () => {
    const operator = await consoleAccount(runtime, "operator");
    const user = await accountOwner(runtime);
    const markup = `<img src=x onerror=alert(1)> & "why"`;
    const browser = await actAs(operator, user.userId, { reason: markup });
    const profile = await restWalk(runtime, "profile", browser);
    const state = await profile.act("register_client_capabilities");
    expect(state.payload.impersonation).toMatchObject({ reason: markup });
    const mail = createMailWriter({ service: "Stile", host: "localhost" })(mailTo(user.addresses[0]), "de");
    expect(mail.text).toContain(markup);
    expect(mail.html).not.toContain("<img src=x");
  });

  test("it lasts as long as the setting says, and no use extends it", async () => {
    const short = runtime.configured({ STILE_CONSOLE_IMPERSONATION_LIFETIME: "120" });
    const operator = await consoleAccount(short, "operator");
    const user = await accountOwner(short);
    const { data } = await ask(operator, user.userId);
    expect(data.lifetime).toBe(120);
    const browser = await actAs(operator, user.userId);
    const [before] = await impersonated(user.userId);
    await browser.request("/me");
    const [after] = await impersonated(user.userId);
    expect(after.expires_at).toEqual(before.expires_at);
    expect(after.expires_at.getTime() - after.created_at.getTime()).toBeLessThanOrEqual(120_000);
  });
});

describe("an application of the OpenID provider", () => {
  const returnTo = "https://app.example.com/callback";
  const api = "https://api.example.com/orders";
  const stock = "https://api.example.com/stock";
  const secret = "a secret of a service that has enough characters";
  const verifier = "v".repeat(43);
  const openid = runtime.configured({
    STILE_OPENID_ENABLED: "true",
    STILE_OPENID_ACCESS_TOKEN_LIFETIME: "3600",
    STILE_OPENID_CLIENTS: JSON.stringify({
      shop: {
        name: "The shop",
        redirect_uris: [returnTo],
        scopes: ["openid", "offline_access", "orders:read"],
        grants: ["authorization_code", "refresh_token"],
      },
      orders: { name: "Orders", secret, grants: ["token_exchange"], scopes: ["orders:read"], serves: [api] },
      reader: { name: "A reader", redirect_uris: [returnTo], scopes: ["openid"], first_party: false },
    }),
    STILE_OPENID_RESOURCES: JSON.stringify({
      [api]: { scopes: ["orders:read"] },
      [stock]: { scopes: ["orders:read"] },
    }),
  });

  type Form = Record<string, string>;

  /** Where a request of a client leads a browser. */
  async function authorize(browser: Visitor, more: Form): Promise<URL> {
    const query = new URLSearchParams({
      client_id: "shop",
      redirect_uri: returnTo,
      response_type: "code",
      scope: "openid offline_access",
      code_challenge: codeChallengeOf(verifier),
      code_challenge_method: "S256",
      ...more,
    });
    const answer = await browser.request(`/oauth/authorize?${query}`);
    return new URL(answer.headers.get("location") ?? "", base);
  }

  /** The answer of the token endpoint to a code. */
  async function redeem(code: string | null, more: Form = {}): Promise<Record<string, string | undefined>> {
    const answer = await visitor(openid).request("/oauth/token", {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "shop",
        redirect_uri: returnTo,
        code: code ?? "",
        code_verifier: verifier,
        ...more,
      }),
    });
    return (await answer.json()) as Record<string, string | undefined>;
  }

  const codeFor = async (browser: Visitor, more: Form = {}) =>
    (await authorize(browser, { prompt: "consent", ...more })).searchParams.get("code");

  /** The answer of the token endpoint to a sign-in by the session of a browser. */
  const tokensOf = async (browser: Visitor) =>
    redeem(await codeFor(browser, { scope: "openid offline_access orders:read", resource: api }));

  const userInfo = (access_token: string | undefined) =>
    visitor(openid).request("/oauth/userinfo", { headers: { authorization: `Bearer ${access_token}` } });

  const begun = async () => {
    const operator = await consoleAccount(openid, "operator");
    const user = await accountOwner(openid);
    return { operator, user, browser: await actAs(operator, user.userId) };
  };

  test("gets tokens that name the operator and end with the session, and none to renew them", async () => {
    const operator = await consoleAccount(openid, "operator");
    const user = await accountOwner(openid);
    const own = visitor(openid);
    own.cookies.set("service", user.sessionToken);
    const ofUser = await tokensOf(own);
    expect(ofUser.refresh_token).toBeDefined();
    expect(decodeJwt(ofUser.access_token ?? "")).not.toHaveProperty("act");
    const browser = await actAs(operator, user.userId);
    const tokens = await tokensOf(browser);
    const act = { sub: operator.userId, role: "operator" };
    expect(decodeJwt(tokens.id_token ?? "")).toMatchObject({ sub: user.userId, act });
    const { exp = 0, ...claims } = decodeJwt(tokens.access_token ?? "");
    expect(claims).toMatchObject({ sub: user.userId, act });
    expect(exp * 1000 - Date.now()).toBeLessThanOrEqual(900_000);
    expect(tokens).not.toHaveProperty("refresh_token");
  });

  test.each(["a sign-out of the console", "the end of the time"])(
    "A355 gets nothing for a code with offline access that it redeems after %s",
    async (end) => {
      const { user, browser } = await begun();
      const code = await codeFor(browser);
      expect(code).not.toBeNull();
      if (end === "the end of the time")
        await rowsOf("update sessions set expires_at = now() - interval '1 second' where user_id = $1", [
          user.userId,
        ]);
      else await browser.post("/api/console/sign-out", undefined, { "sec-fetch-site": "same-origin" });
      expect((await redeem(code)).error).toBe("invalid_grant");
    },
  );

  test("A355 has an opaque token with offline access that names the operator, and ends with the session", async () => {
    const { operator, user, browser } = await begun();
    const { access_token, refresh_token } = await redeem(await codeFor(browser));
    expect(refresh_token).toBeUndefined();
    expect(await (await userInfo(access_token)).json()).toMatchObject({
      sub: user.userId,
      act: { sub: operator.userId, role: "operator" },
    });
    await browser.post("/api/console/sign-out", undefined, { "sec-fetch-site": "same-origin" });
    expect((await userInfo(access_token)).status).toBe(401);
  });

  test("has a token that its API exchanges for one which names the operator in full", async () => {
    const { operator, browser } = await begun();
    const { access_token = "" } = await tokensOf(browser);
    const answer = await visitor(openid).submit(
      "/oauth/token",
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: access_token,
        subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
        resource: stock,
      },
      { authorization: `Basic ${Buffer.from(`orders:${secret}`).toString("base64")}` },
    );
    const given = (await answer.json()) as { access_token?: string };
    expect(decodeJwt(given.access_token ?? "").act).toEqual({
      sub: "orders",
      act: { sub: operator.userId, iss: base, role: "operator" },
    });
  });

  test("A356 is told of the operator also where it asks for the claim itself, in any form", async () => {
    const { operator, user, browser } = await begun();
    const own = visitor(openid);
    own.cookies.set("service", user.sessionToken);
    const ofReader = { client_id: "reader", scope: "openid" };
    const page = await authorize(own, ofReader);
    const request = page.searchParams.get("request") ?? "";
    await (await restWalk(openid, "consent", own, { request })).act("consent_allow");
    const act = { sub: operator.userId, role: "operator" };
    for (const client_id of ["reader", "shop"])
      for (const named of [null, { essential: true }, { value: "another" }]) {
        const claims = JSON.stringify({ id_token: { act: named }, userinfo: { act: named } });
        const asked = await authorize(browser, { ...ofReader, client_id, claims });
        const tokens = await redeem(asked.searchParams.get("code"), { client_id });
        expect(decodeJwt(tokens.id_token ?? "")).toMatchObject({ sub: user.userId, act });
        expect(await (await userInfo(tokens.access_token)).json()).toMatchObject({ act });
      }
    for (const named of ["x", false, 0, []]) {
      const claims = JSON.stringify({ id_token: { act: named } });
      const refused = await authorize(browser, { ...ofReader, claims });
      expect(refused.searchParams.get("error")).toBe("invalid_request");
    }
  });
});

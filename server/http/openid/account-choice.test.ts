import { createHash, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { blockAccount } from "../../account/blocking.ts";
import { deleteAccount } from "../../account/deletion.ts";
import { factsByIdentifier } from "../../identity/facts.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import {
  chooseMethod,
  mailedCode,
  password,
  type RestWalk,
  restRegistration,
  restWalk,
} from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";
import { pageState } from "../page/page-state.ts";

/** The accounts of a browser, of which an application lets its user choose one (`prompt=select_account`). */

const returnTo = "https://app.example.com/callback";
const client = { redirect_uris: [returnTo], scopes: ["openid", "email"] };
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { ...client, name: "The shop" },
    reader: { ...client, name: "A reader", first_party: false },
  }),
});

const newAddress = () => `grace-${randomUUID()}@example.com`;

/** Where an application's request leads a browser. */
async function ask(browser: Visitor, more: Record<string, string> = {}, client_id = "shop"): Promise<URL> {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    prompt: "select_account",
    ...more,
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  return new URL(answer.headers.get("location") ?? "");
}

const requestIn = (page: URL) =>
  new URL(page.searchParams.get("redirect_to") ?? "").pathname.split("/").at(-1) ?? "";

/** The login for a request, after the report of what the browser can do. */
async function loginFor(browser: Visitor, page: URL, on: TestRuntime = runtime): Promise<RestWalk> {
  const flow = await restWalk(on, "login", browser, { request: requestIn(page) });
  await flow.act("register_client_capabilities");
  return flow;
}

const returned = async (browser: Visitor, address: unknown) =>
  new URL(
    (await browser.request(new URL(String(address)).pathname)).headers.get("location") ?? "",
    runtime.config.base_url,
  );

interface Named {
  name: string;
  value: string;
}

const choicesOf = ({ state }: RestWalk) =>
  (state.actions.account_choose?.inputs.chosen_account?.allowed_values ?? []) as Named[];

/** The key of the account that is signed in. */
const ownKey = (flow: RestWalk) =>
  choicesOf(flow).find(({ value }) => value.startsWith("session."))?.value ?? "";

/** Signs in with the password. */
async function signIn(browser: Visitor, email: string, at = runtime): Promise<void> {
  const flow = await restWalk(at, "login", browser);
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  await chooseMethod(flow, "continue_to_password_login");
  await flow.act("password_login", { password });
  expect(flow.state.name).toBe("success");
}

/** A browser that has signed in to accounts, and is signed in to the last one. */
async function browserOf(...emails: string[]): Promise<Visitor> {
  const browser = visitor(runtime);
  for (const email of emails) {
    await restRegistration(runtime, email);
    await signIn(browser, email);
  }
  // The sign-ins were before the request, by the second.
  const { sessions } = schema;
  await runtime.database.write.update(sessions).set({ authenticatedAt: new Date(Date.now() - 60_000) });
  return browser;
}

const sessionCookie = runtime.config.session.cookie.name;

const sessionsOf = async (email: string) => {
  const facts = await factsByIdentifier(runtime.database.read, runtime.tenant.id, "email", email);
  const { sessions } = schema;
  return runtime.database.read
    .select()
    .from(sessions)
    .where(and(eq(sessions.tenantId, runtime.tenant.id), eq(sessions.userId, facts?.userId ?? "")));
};

const idOf = async (email: string) =>
  (await factsByIdentifier(runtime.database.read, runtime.tenant.id, "email", email))?.userId ?? "";

describe("a user who is to choose an account", () => {
  test("goes on at once with the one that is signed in", async () => {
    const email = newAddress();
    const browser = await browserOf(email);
    const page = await ask(browser);
    expect([page.pathname, page.searchParams.get("prompt")]).toEqual(["/login", "select_account"]);
    const flow = await loginFor(browser, page);
    expect(flow.state.name).toBe("account_choice");
    expect(choicesOf(flow)).toEqual([{ name: email, value: expect.stringMatching(/^session\./) }]);
    expect(flow.state.actions).not.toHaveProperty("account_forget");
    const before = browser.cookies.get(sessionCookie);
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    expect(flow.state).toMatchObject({
      name: "consent_answered",
      payload: { redirect_url: page.searchParams.get("redirect_to") },
    });
    expect(browser.cookies.get(sessionCookie)).toBe(before);
    const back = await returned(browser, flow.state.payload.redirect_url);
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("is asked once where the request came without the session", async () => {
    const browser = await browserOf(newAddress());
    const session = browser.cookies.get(sessionCookie) ?? "";
    browser.cookies.delete(sessionCookie);
    const page = await ask(browser);
    browser.cookies.set(sessionCookie, session);
    const flow = await loginFor(browser, page);
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    const back = await returned(browser, flow.state.payload.redirect_url);
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("is asked once where a sign-in follows the choice", async () => {
    const browser = await browserOf(newAddress());
    await browser.post("/logout");
    const page = await ask(browser, {}, "reader");
    const flow = await loginFor(browser, page);
    await flow.act("account_choose", { chosen_account: choicesOf(flow)[0]?.value ?? "" });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    const question = await returned(browser, page.searchParams.get("redirect_to"));
    expect(question.pathname).toBe("/consent");
    const request = question.searchParams.get("request") ?? "";
    const consent = await restWalk(runtime, "consent", browser, { request });
    await consent.act("consent_allow");
    const back = await returned(browser, consent.state.payload.redirect_url);
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("is asked again by the next request", async () => {
    const browser = await browserOf(newAddress());
    const flow = await loginFor(browser, await ask(browser));
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    await returned(browser, flow.state.payload.redirect_url);
    expect((await ask(browser)).searchParams.get("prompt")).toBe("select_account");
  });

  test("is asked by the page first, and gets nowhere without an answer", async () => {
    const browser = await browserOf(newAddress());
    const page = await ask(browser);
    const again = await returned(browser, page.searchParams.get("redirect_to"));
    expect([again.pathname, again.searchParams.get("prompt")]).toEqual(["/login", "select_account"]);
  });

  test("signs in to another account of the browser, whose session begins before that of the first one ends", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first, second);
    const page = await ask(browser);
    const flow = await loginFor(browser, page);
    const [own, other] = choicesOf(flow);
    expect(own).toEqual({ name: second, value: expect.stringMatching(/^session\./) });
    expect(other?.name).toMatch(/^g•••\w@example\.com$/);
    await flow.act("account_choose", { chosen_account: other?.value ?? "" });
    await flow.act("continue_to_password_login");
    // Its identifier is not said in full.
    expect(flow.state).toMatchObject({ name: "login_password", payload: { identifier: other?.name } });
    expect(await sessionsOf(second)).not.toHaveLength(0);
    const before = browser.cookies.get(sessionCookie);
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("success");
    expect(browser.cookies.get(sessionCookie)).not.toBe(before);
    const back = await returned(browser, page.searchParams.get("redirect_to"));
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("keeps the session of the first account when the sign-in to the second is abandoned", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first, second);
    const flow = await loginFor(browser, await ask(browser));
    await flow.act("account_choose", { chosen_account: choicesOf(flow)[1]?.value ?? "" });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "not the password" });
    expect((await browser.request("/sessions/validate")).status).toBe(200);
    expect((await ask(browser, { prompt: "none" })).searchParams.get("code")).not.toBeNull();
  });

  test("signs in with another account, which is not among them", async () => {
    const [known, unknown] = [newAddress(), newAddress()];
    const browser = await browserOf(known);
    await restRegistration(runtime, unknown);
    const page = await ask(browser);
    const flow = await loginFor(browser, page);
    await flow.act("account_other");
    expect(flow.state.name).toBe("login_init");
    await flow.act("continue_with_login_identifier", { email: unknown });
    await chooseMethod(flow, "continue_to_passcode_confirmation");
    await flow.act("verify_passcode", { code: mailedCode(runtime, unknown) });
    expect(flow.state.name).toBe("success");
    const back = await returned(browser, page.searchParams.get("redirect_to"));
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("is asked what else the request asks, after the choice", async () => {
    const browser = await browserOf(newAddress());
    const page = await ask(browser, { prompt: "select_account login" });
    const flow = await loginFor(browser, page);
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    const next = await returned(browser, flow.state.payload.redirect_url);
    expect([next.pathname, next.searchParams.get("prompt")]).toEqual(["/login", null]);
    const reader = await ask(browser, {}, "reader");
    const choosing = await loginFor(browser, reader);
    await choosing.act("account_choose", { chosen_account: ownKey(choosing) });
    const question = await returned(browser, choosing.state.payload.redirect_url);
    expect(question.pathname).toBe("/consent");
    const consent = await restWalk(runtime, "consent", browser, {
      request: question.searchParams.get("request") ?? "",
    });
    await consent.act("consent_allow");
    const back = await returned(browser, consent.state.payload.redirect_url);
    expect(back.searchParams.get("code")).not.toBeNull();
  });

  test("is asked to sign in where the browser knows no account, or the setting is off", async () => {
    const browser = visitor(runtime);
    expect((await loginFor(browser, await ask(browser))).state.name).toBe("login_init");
    const off = runtime.configured({ STILE_OPENID_ACCOUNT_CHOICE: "false" });
    const known = await browserOf(newAddress());
    const asked = await ask(known);
    expect((await loginFor(moved(known, off), asked, off)).state.name).toBe("login_init");
  });
});

describe("the page of a browser without scripts", () => {
  const html = { headers: { accept: "text/html" } };

  const shownTo = ({ cookies }: Visitor): Promise<PageAnswer> => {
    const header = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return pageState(runtime, runtime.tenant, header, "login");
  };

  /** Follows the application's request to the page. */
  async function pageFor(browser: Visitor): Promise<PageAnswer> {
    const page = await ask(browser);
    const led = await browser.request(`${page.pathname}${page.search}`, html);
    expect(led.headers.get("location")).toBe("/");
    return shownTo(browser);
  }

  const valuesOf = ({ state }: PageAnswer) =>
    ((state.actions.account_choose?.inputs.chosen_account?.allowed_values ?? []) as Named[]).map(
      ({ value }) => value,
    );

  test("shows the accounts before a flow is stored, and goes on with the one that is signed in", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first, second);
    const flows = () => runtime.database.read.$count(schema.flows);
    const before = await flows();
    const page = await pageFor(browser);
    expect(page).toMatchObject({ version: 0, state: { name: "account_choice", csrf_token: "" } });
    const [own = ""] = valuesOf(page);
    expect(valuesOf(page)).toHaveLength(2);
    expect(JSON.stringify(page)).toContain(second);
    expect(JSON.stringify(page)).not.toContain(first);
    expect(await flows()).toBe(before);
    const fields = { flow: "login", action: "account_choose", version: "0", chosen_account: own };
    const pressed = await browser.submit("/step", fields);
    expect(pressed.headers.get("location")).toBe("/");
    const { state } = await shownTo(browser);
    expect(state.name).toBe("consent_answered");
    expect((await returned(browser, state.payload.redirect_url)).searchParams.get("code")).not.toBeNull();
  });

  test("signs in to another account, and removes one", async () => {
    const [first, second, third] = [newAddress(), newAddress(), newAddress()];
    const browser = await browserOf(first, second, third);
    const [, key = "", other = ""] = valuesOf(await pageFor(browser));
    const removed = { flow: "login", action: "account_forget", version: "0", forgotten_account: other };
    await browser.submit("/step", removed);
    const left = await shownTo(browser);
    expect(valuesOf(left)).toEqual([expect.stringMatching(/^session\./), key]);
    const chosen = { flow: "login", action: "account_choose", chosen_account: key };
    await browser.submit("/step", { ...chosen, version: String(left.version) });
    const { state } = await shownTo(browser);
    expect(state.name).toBe("login_method_chooser");
    expect(JSON.stringify(state)).not.toContain(second);
  });

  test("A261 answers nothing by a page that another window has left behind", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first);
    await restRegistration(runtime, second);
    const [ofFirstRequest = ""] = valuesOf(await pageFor(browser));
    // Another window asks for another application, and another user signs in.
    const [ofSecondRequest = ""] = valuesOf(await pageFor(browser));
    const press = async (chosen_account: string) => {
      const fields = { flow: "login", action: "account_choose", version: "0", chosen_account };
      await browser.submit("/step", fields);
      return (await shownTo(browser)).state.name;
    };
    expect(await press(ofFirstRequest)).not.toBe("consent_answered");
    await signIn(browser, second);
    expect(await press(ofSecondRequest)).not.toBe("consent_answered");
  });

  test("begins with another request after one that was answered", async () => {
    const browser = await browserOf(newAddress());
    const [own = ""] = valuesOf(await pageFor(browser));
    const fields = { flow: "login", action: "account_choose", version: "0", chosen_account: own };
    await browser.submit("/step", fields);
    expect((await pageFor(browser)).state.name).toBe("account_choice");
  });
});

test("a page with scripts is answered alike over tRPC", async () => {
  const email = newAddress();
  const browser = await browserOf(email);
  const page = await ask(browser);
  await browser.request(`${page.pathname}${page.search}`, { headers: { accept: "text/html" } });
  const header = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const { state } = await pageState(runtime, runtime.tenant, header, "login");
  const [own] = (state.actions.account_choose?.inputs.chosen_account?.allowed_values ?? []) as Named[];
  const step = {
    type: "login",
    action: "account_choose",
    version: 0,
    input: { chosen_account: own?.value },
    capabilities: { webauthn_available: false },
  };
  const answer = await browser.mutate("flow.act", step);
  expect(await answer.json()).toMatchObject({
    result: {
      data: {
        state: { name: "consent_answered", payload: { redirect_url: page.searchParams.get("redirect_to") } },
      },
    },
  });
});

/** The same browser, at another server. */
function moved(browser: Visitor, server: TestRuntime): Visitor {
  const there = visitor(server);
  for (const [name, value] of browser.cookies) there.cookies.set(name, value);
  return there;
}

describe("A290 the accounts of a browser are not shown", () => {
  /** The state that a login begins with for a request. */
  async function shownFor(browser: Visitor, request: string): Promise<string> {
    const flow = await restWalk(runtime, "login", browser, { request });
    await flow.act("register_client_capabilities");
    return flow.state.name;
  }

  test("for a request that was made up", async () => {
    const browser = await browserOf(newAddress());
    for (const request of ["", "x", "x".repeat(64), "x".repeat(65), "\0"])
      expect(await shownFor(browser, request)).toBe("login_init");
  });

  test("for a request that is answered", async () => {
    const browser = await browserOf(newAddress());
    const page = await ask(browser);
    const flow = await loginFor(browser, page);
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    expect(await shownFor(browser, requestIn(page))).toBe("login_init");
    await returned(browser, flow.state.payload.redirect_url);
    expect(await shownFor(browser, requestIn(page))).toBe("login_init");
  });

  test("for a request that has expired", async () => {
    const browser = await browserOf(newAddress());
    const request = requestIn(await ask(browser));
    expect(await shownFor(browser, request)).toBe("account_choice");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
    try {
      expect(await shownFor(browser, request)).toBe("login_init");
    } finally {
      vi.useRealTimers();
    }
  });

  test("for a request that asks something else", async () => {
    const browser = await browserOf(newAddress());
    const question = await ask(browser, { prompt: "consent" }, "reader");
    expect(question.pathname).toBe("/consent");
    expect(await shownFor(browser, question.searchParams.get("request") ?? "")).toBe("login_init");
  });

  test("for a request of another tenant", async () => {
    const openid = { enabled: true, clients: { shop: { ...client, name: "The shop" } } };
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: { openid } });
    const acme = await runtime.tenants.byId(id);
    if (!acme) throw new Error("the created tenant was not found");
    const theirs = await ask(tenantVisitor(runtime, acme));
    expect(theirs.searchParams.get("prompt")).toBe("select_account");
    expect(await shownFor(await browserOf(newAddress()), requestIn(theirs))).toBe("login_init");
  });

  test("by the page either, whatever address leads to it", async () => {
    const browser = await browserOf(newAddress());
    const redirect_to = `${runtime.config.base_url}/oauth/authorize/${"x".repeat(21)}`;
    const query = new URLSearchParams({ redirect_to, prompt: "select_account" });
    const led = await browser.request(`/login?${query}`, { headers: { accept: "text/html" } });
    expect(led.headers.get("location")).toBe("/");
    const header = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { state } = await pageState(runtime, runtime.tenant, header, "login");
    expect(state.name).toBe("login_init");
  });
});

describe("A261 the accounts of a browser", () => {
  test("are removed from it by its user, and their next sign-in is as in a new browser", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first, second);
    const flow = await loginFor(browser, await ask(browser));
    const [, other] = choicesOf(flow);
    await flow.act("account_forget", { forgotten_account: other?.value ?? "" });
    expect([flow.state.name, choicesOf(flow)]).toEqual([
      "account_choice",
      [{ name: second, value: expect.stringMatching(/^session\./) }],
    ]);
    const next = await loginFor(browser, await ask(browser));
    expect(choicesOf(next)).toHaveLength(1);
    await signIn(browser, first);
    expect(runtime.enqueued.at(-1)).toMatchObject({ to: first, mail: { type: "new_browser" } });
  });

  test("leave nothing to choose when the last one is removed", async () => {
    const email = newAddress();
    const browser = await browserOf(email);
    await browser.post("/logout");
    const flow = await loginFor(browser, await ask(browser));
    const [only] = choicesOf(flow);
    await flow.act("account_forget", { forgotten_account: only?.value ?? "" });
    expect(flow.state.name).toBe("login_init");
    expect((await loginFor(browser, await ask(browser))).state.name).toBe("login_init");
  });

  test("are shown alike after one was deleted, blocked or given another address, and none of it is said", async () => {
    const [deleted, blocked, moved_] = [newAddress(), newAddress(), newAddress()];
    const browser = await browserOf(deleted, blocked, moved_);
    await browser.post("/logout");
    const before = choicesOf(await loginFor(browser, await ask(browser)));
    expect(before).toHaveLength(3);
    const ids = await Promise.all([deleted, blocked, moved_].map(idOf));
    const { database } = runtime;
    await database.write.transaction(async (tx) => {
      await deleteAccount(requestContext(runtime), ids[0] ?? "", null)(tx);
      await blockAccount(tx, requestContext(runtime), ids[1] ?? "");
    });
    await database.write
      .update(schema.emails)
      .set({ address: `lovelace-${randomUUID()}@example.org` })
      .where(eq(schema.emails.userId, ids[2] ?? ""));
    const after = await loginFor(browser, await ask(browser));
    const namesOf = (choices: Named[]) => choices.map(({ name }) => name);
    expect(namesOf(choicesOf(after))).toEqual(namesOf(before));
    const states: unknown[] = [];
    for (const index of before.keys()) {
      const flow = await loginFor(browser, await ask(browser));
      await flow.act("account_choose", { chosen_account: choicesOf(flow)[index]?.value ?? "" });
      expect(JSON.stringify(flow.state)).not.toContain("lovelace");
      const { name, payload, actions, error } = flow.state;
      states.push({ name, payload: { ...payload, identifier: null }, actions: Object.keys(actions), error });
    }
    // Not by its method either, which the mark of the browser knows.
    expect(states).toEqual([states[0], states[0], states[0]]);
    expect(states[0]).toMatchObject({ name: "login_method_chooser" });
  });

  test("are not those of a browser that was not to be remembered", async () => {
    const server = runtime.configured({ STILE_SESSION_COOKIE_RETENTION: "session" });
    const email = newAddress();
    await restRegistration(runtime, email);
    const browser = visitor(server);
    await signIn(browser, email, server);
    await browser.post("/logout");
    expect((await loginFor(browser, await ask(browser), server)).state.name).toBe("login_init");
  });

  test("are not kept in the mark where the choice, or the provider, is off", async () => {
    for (const setting of ["STILE_OPENID_ACCOUNT_CHOICE", "STILE_OPENID_ENABLED"]) {
      const server = runtime.configured({ [setting]: "false" });
      const email = newAddress();
      await restRegistration(runtime, email);
      const browser = visitor(server);
      await signIn(browser, email, server);
      await browser.post("/logout");
      const on = moved(browser, runtime);
      expect((await loginFor(on, await ask(on))).state.name).toBe("login_init");
    }
  });

  test("are eight at most, and neither ids nor addresses of theirs are in an answer", async () => {
    const emails = Array.from({ length: 10 }, (_, index) => `grace${index}@example.com`);
    const browser = await browserOf(...emails);
    await browser.post("/logout");
    const flow = await loginFor(browser, await ask(browser));
    expect(choicesOf(flow)).toHaveLength(8);
    const text = JSON.stringify(flow.state);
    for (const email of emails) {
      expect(text).not.toContain(email);
      expect(text).not.toContain(await idOf(email));
    }
  });

  test("are none of a cookie that was made up, or of a key that another browser has", async () => {
    const [one, other] = [await browserOf(newAddress()), await browserOf(newAddress(), newAddress())];
    const foreign = choicesOf(await loginFor(other, await ask(other)))[1]?.value ?? "";
    const flow = await loginFor(one, await ask(one));
    await flow.act("account_choose", { chosen_account: foreign });
    expect([flow.response.status, flow.state.name]).toEqual([400, "account_choice"]);
    const stranger = visitor(runtime);
    const [name = ""] = [...one.cookies].find(([cookie]) => cookie.includes("mark")) ?? [];
    stranger.cookies.set(name, Buffer.from(randomUUID().repeat(8)).toString("base64url"));
    expect((await loginFor(stranger, await ask(stranger))).state.name).toBe("login_init");
  });

  test("do not let one user go on as another who has signed in meanwhile", async () => {
    const [first, second] = [newAddress(), newAddress()];
    const browser = await browserOf(first);
    await restRegistration(runtime, second);
    const flow = await loginFor(browser, await ask(browser));
    await signIn(browser, second);
    await flow.act("account_choose", { chosen_account: ownKey(flow) });
    expect(flow.state.name).toBe("login_init");
  });

  test("are not chosen for a request that was answered meanwhile", async () => {
    const browser = await browserOf(newAddress());
    const page = await ask(browser);
    const [one, other] = [await loginFor(browser, page), await loginFor(browser, page)];
    await one.act("account_choose", { chosen_account: ownKey(one) });
    const { redirect_url } = one.state.payload;
    expect((await returned(browser, redirect_url)).searchParams.get("code")).not.toBeNull();
    await other.act("account_choose", { chosen_account: ownKey(other) });
    expect(other.state).toMatchObject({ name: "consent_answered", payload: { redirect_url } });
  });

  test("are not shown without a request, nor in a registration", async () => {
    const browser = await browserOf(newAddress());
    for (const type of ["login", "registration"] as const) {
      const flow = await restWalk(runtime, type, browser, type === "login" ? {} : { request: "x" });
      await flow.act("register_client_capabilities");
      expect(flow.state.name).not.toBe("account_choice");
    }
  });
});

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Tenant } from "../../config/tenant.ts";
import type { FlowType } from "../../flow/names.ts";
import { createVault } from "../../keys/vault.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, mailedLink, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { pageState } from "./page-state.ts";

const runtime = await runtimeForTests({ STILE_EMAIL_LINKS: "true" });

const newAddress = () => `${randomUUID()}@example.com`;

async function shownState(browser: Visitor, type: FlowType, on = runtime, tenant: Tenant = on.tenant) {
  const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return pageState(on, tenant, cookies, type);
}

/** Posts a form of the hosted page. */
async function submit(
  browser: Visitor,
  type: FlowType,
  action: string,
  fields: Record<string, string> = {},
  tenant: Tenant = runtime.tenant,
) {
  const { version } = await shownState(browser, type, runtime, tenant);
  const response = await browser.submit("/step", {
    flow: type,
    action,
    version: String(version),
    ...fields,
  });
  expect(response.status).toBe(303);
  const { state } = await shownState(browser, type, runtime, tenant);
  return state;
}

/** Opens a link as a browser does, and reads the page's form. */
async function open(browser: Visitor, link: URL) {
  const response = await browser.request(link.pathname + link.search, { headers: { accept: "text/html" } });
  const html = await response.text();
  const [, token] = /name="token" value="([^"]+)"/.exec(html) ?? [];
  return { response, html, token };
}

/** Opens a link, and presses the button of its page. */
async function press(browser: Visitor, link: URL) {
  const { html, token } = await open(browser, link);
  if (token === undefined) throw new Error(`the page has no button: ${html}`);
  return submitToken(browser, token);
}

async function submitToken(browser: Visitor, token: string, headers: Record<string, string> = {}) {
  const response = await browser.submit("/mailed-link", { token }, { accept: "text/html", ...headers });
  return { response, html: await response.text() };
}

const codeIn = (html: string) => /<p class="code"[^>]*>([^<]*)<\/p>/.exec(html)?.[1];

const isSignedIn = async (browser: Visitor) => {
  const { is_valid } = await (await browser.request("/sessions/validate")).json();
  return is_valid === true;
};

const ended = /This link no longer works/;

/** An account with a verified address. */
async function account(): Promise<string> {
  const email = newAddress();
  await restRegistration(runtime, email);
  return email;
}

/** A browser whose login waits for a code. */
async function waitingLogin(email: string): Promise<Visitor> {
  const browser = visitor(runtime);
  await submit(browser, "login", "continue_with_login_identifier", { email });
  const state = await submit(browser, "login", "continue_to_passcode_confirmation");
  expect(state.name).toBe("passcode_confirmation");
  return browser;
}

/** All tries and failures that are counted. */
async function counted(): Promise<number> {
  const { rows } = await runtime.database.read.$client.query(
    `select (select coalesce(sum(tries), 0) from passcodes)::int
       + (select coalesce(sum(window_count + consecutive), 0) from failures)::int as counted`,
  );
  return rows[0].counted;
}

const wrongOf = (code: string) => (code === "000000" ? "111111" : "000000");

describe("in the browser that began", () => {
  test("the press signs in, as the code would, and uses link and code up", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const link = mailedLink(runtime, email);
    const { response } = await press(browser, link);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    expect((await shownState(browser, "login")).state.name).toBe("success");
    expect(await isSignedIn(browser)).toBe(true);
    expect((await open(browser, link)).response.status).toBe(410);
    expect((await open(visitor(runtime), link)).html).toMatch(ended);
  });

  test("a second press of the page that is still open leads to the page of the sign-in", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const { token = "" } = await open(browser, mailedLink(runtime, email));
    await submitToken(browser, token);
    const again = await submitToken(browser, token);
    expect([again.response.status, again.response.headers.get("location")]).toEqual([303, "/"]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("the press signs in although the answer before it was lost", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const kept = new Map(browser.cookies);
    await submit(browser, "login", "resend_passcode");
    for (const [name, value] of kept) browser.cookies.set(name, value);
    await press(browser, mailedLink(runtime, email));
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("of two presses at once one signs in, and neither fails", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const { token = "" } = await open(browser, mailedLink(runtime, email));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const before = await sessions();
    const presses = await Promise.all(
      Array.from({ length: 8 }, () => submitToken(visitor(runtime), token, { cookie })),
    );
    expect((await sessions()) - before).toBe(1);
    for (const { response } of presses) expect([303, 410]).toContain(response.status);
  });

  async function sessions(): Promise<number> {
    const { rows } = await runtime.database.read.$client.query("select count(*)::int as n from sessions");
    return rows[0].n;
  }

  test("the press confirms the address of a registration", async () => {
    const email = newAddress();
    const browser = visitor(runtime);
    await submit(browser, "registration", "register_login_identifier", { email });
    const { response } = await press(browser, mailedLink(runtime, email));
    expect(response.headers.get("location")).toBe("/?flow=registration");
    expect((await shownState(browser, "registration")).state.name).toBe("password_creation");
  });

  test("the press goes on to the new password of a recovery", async () => {
    const email = await account();
    const browser = visitor(runtime);
    await submit(browser, "login", "continue_with_login_identifier", { email });
    await submit(browser, "login", "continue_to_password_login");
    await submit(browser, "login", "continue_to_passcode_confirmation_recovery");
    await press(browser, mailedLink(runtime, email));
    expect((await shownState(browser, "login")).state.name).toBe("login_password_recovery");
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("the press confirms a further address of the account page", async () => {
    const browser = (await restRegistration(runtime, newAddress())).visitor;
    const { user_id: userId } = await (await browser.request("/sessions/validate")).json();
    const further = newAddress();
    await submit(browser, "profile", "email_create", { email: further, account: userId });
    await press(browser, mailedLink(runtime, further));
    const { state } = await shownState(browser, "profile");
    expect(state.name).toBe("profile_init");
    const { emails } = state.payload.user as { emails: { address: string; is_verified: boolean }[] };
    expect(emails).toContainEqual(expect.objectContaining({ address: further, is_verified: true }));
  });

  test("a code with letters is used as it is", async () => {
    const lettered = runtime.configured({ STILE_EMAIL_PASSCODE_CHARSET: "alphanumeric" });
    const email = newAddress();
    const walk = await restWalk(lettered, "registration");
    await walk.act("register_client_capabilities");
    await walk.act("register_login_identifier", { email });
    const { html } = await press(visitor(lettered), mailedLink(lettered, email));
    expect(codeIn(html)).toBe(mailedCode(lettered, email));
    expect(codeIn(html)).toMatch(/^[2-9A-Z]{6}$/);
  });

  test("a link that was begun with wrong codes is used while attempts are left, and counts as one", async () => {
    const email = await account();
    const code = () => mailedCode(runtime, email);
    const browser = await waitingLogin(email);
    for (let attempt = 0; attempt < 2; attempt++)
      await submit(browser, "login", "verify_passcode", { code: wrongOf(code()) });
    await press(browser, mailedLink(runtime, email));
    expect(await isSignedIn(browser)).toBe(true);

    const exhausted = await waitingLogin(email);
    for (let attempt = 0; attempt < 3; attempt++)
      await submit(exhausted, "login", "verify_passcode", { code: wrongOf(code()) });
    const { response, html } = await open(exhausted, mailedLink(runtime, email));
    expect(response.status).toBe(410);
    expect(html).toMatch(ended);
    expect(await isSignedIn(exhausted)).toBe(false);
  });
});

describe("the page", () => {
  test("A165 uses nothing when it is read, by browsers and by programs that look through mails", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const link = mailedLink(runtime, email);
    const scanner = visitor(runtime, "198.51.100.7");
    const before = await counted();
    for (let visit = 0; visit < 5; visit++) {
      for (const reader of [scanner, browser])
        for (const method of ["GET", "HEAD", "OPTIONS"])
          expect((await reader.request(link.pathname + link.search, { method })).status).toBeLessThan(300);
      // A sandbox that presses the button sees the code, which the mail shows too.
      expect((await press(scanner, link)).response.status).toBe(200);
    }
    expect(await counted()).toBe(before);
    await press(browser, link);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(scanner)).toBe(false);
  });

  test("passes its address on to no one, is kept nowhere, and loads nothing", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const { response, html } = await open(browser, mailedLink(runtime, email));
    const header = (name: string) => response.headers.get(name);
    expect(header("cache-control")).toBe("no-store");
    expect(header("referrer-policy")).toBe("strict-origin");
    expect(header("x-robots-tag")).toBe("noindex, nofollow");
    expect(header("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
    expect(header("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(html).not.toMatch(/<(script|img|link|iframe)\b|https?:|src=/);
    expect(html).not.toContain(mailedCode(runtime, email));
  });

  test("is in the language of the reader", async () => {
    const email = await account();
    await waitingLogin(email);
    const { pathname, search } = mailedLink(runtime, email);
    const headers = { accept: "text/html", "accept-language": "de" };
    const response = await visitor(runtime).request(pathname + search, { headers });
    expect(await response.text()).toMatch(/<html lang="de"[\s\S]*Code anzeigen/);
  });
});

describe("in any other browser", () => {
  test("A166 the press shows the code, which the first browser takes, and signs nothing in", async () => {
    const email = await account();
    const first = await waitingLogin(email);
    const other = visitor(runtime);
    const link = mailedLink(runtime, email);
    expect((await open(other, link)).html).toContain("Show the code");
    const { response, html } = await press(other, link);
    expect(response.status).toBe(200);
    expect(codeIn(html)).toBe(mailedCode(runtime, email));
    expect(other.cookies.size).toBe(0);
    expect(await isSignedIn(other)).toBe(false);
    const state = await submit(first, "login", "verify_passcode", { code: codeIn(html) ?? "" });
    expect(state.name).toBe("success");
    expect((await open(other, link)).response.status).toBe(410);
  });

  test("A166 a link that an attacker mails to another person signs that person in to nothing", async () => {
    const attacker = await account();
    await waitingLogin(attacker);
    const email = await account();
    const victim = await waitingLogin(email);
    const { state: before, version } = await shownState(victim, "login");
    const { response, html } = await press(victim, mailedLink(runtime, attacker));
    expect(response.status).toBe(200);
    expect(codeIn(html)).toBe(mailedCode(runtime, attacker));
    const { support_number, ...shown } = await shownState(victim, "login");
    expect(shown).toEqual({ state: before, version });
    expect(support_number).toMatch(/^[A-Z]{4} [A-Z]{4}$/);
    expect(await isSignedIn(victim)).toBe(false);
    await press(victim, mailedLink(runtime, email));
    const session = await (await victim.request("/sessions/validate")).json();
    expect(session.claims.email.address).toBe(email);
  });

  test("A166 a page of another site cannot press", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const { token = "" } = await open(browser, mailedLink(runtime, email));
    const before = await counted();
    for (const headers of [
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "same-site", origin: "http://sibling.localhost" },
    ])
      expect((await submitToken(browser, token, headers)).response.status).toBe(403);
    expect(await counted()).toBe(before);
    expect(await isSignedIn(browser)).toBe(false);
    // Over plain http browsers send no Fetch Metadata, but the origin.
    const plain = visitor(runtime);
    for (const [name, value] of browser.cookies) plain.cookies.set(name, value);
    const sent = await plain.request("/mailed-link", {
      method: "POST",
      body: new URLSearchParams({ token }),
      headers: { origin: runtime.config.base_url },
    });
    expect(sent.status).toBe(303);
    expect(await isSignedIn(plain)).toBe(true);
  });

  test("a flow that an application or a terminal holds goes on there with the code", async () => {
    const email = await account();
    const login = await restWalk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email });
    await login.act("continue_to_passcode_confirmation");
    const { html } = await press(visitor(runtime), mailedLink(runtime, email));
    expect((await login.act("verify_passcode", { code: codeIn(html) })).name).toBe("success");
  });

  test("a flow of a tRPC client is continued by its cookie", async () => {
    const email = newAddress();
    const browser = visitor(runtime);
    const started = await browser.mutate("flow.start", { type: "registration", capabilities: {} });
    const { version } = (await started.json()).result.data;
    await browser.mutate("flow.act", {
      type: "registration",
      action: "register_login_identifier",
      version,
      input: { email },
    });
    await press(browser, mailedLink(runtime, email));
    expect((await shownState(browser, "registration")).state.name).toBe("password_creation");
  });
});

describe("A167 a link whose code is gone says so, and uses nothing", () => {
  test("after the code was typed", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const { token = "" } = await open(browser, mailedLink(runtime, email));
    await submit(browser, "login", "verify_passcode", { code: mailedCode(runtime, email) });
    expect((await submitToken(visitor(runtime), token)).response.status).toBe(410);
    expect((await submitToken(browser, token)).response.headers.get("location")).toBe("/");
  });

  test("after a newer code was mailed, whose attempts stay", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const old = mailedLink(runtime, email);
    const { token = "" } = await open(browser, old);
    await submit(browser, "login", "resend_passcode");
    const before = await counted();
    for (let attempt = 0; attempt < 4; attempt++) {
      const { response, html } = await submitToken(browser, token);
      expect(response.status).toBe(410);
      expect(html).toMatch(ended);
      expect((await submitToken(visitor(runtime), token)).response.status).toBe(410);
      expect((await open(browser, old)).response.status).toBe(410);
    }
    expect(await counted()).toBe(before);
    await press(browser, mailedLink(runtime, email));
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("after its time", async () => {
    const ageing = await testRuntime({ STILE_EMAIL_LINKS: "true" });
    try {
      const email = newAddress();
      const walk = await restWalk(ageing, "registration");
      await walk.act("register_client_capabilities");
      await walk.act("register_login_identifier", { email });
      const browser = visitor(ageing);
      const link = mailedLink(ageing, email);
      const { token = "" } = await open(browser, link);
      ageing.advanceClock(301);
      for (const { response } of [await open(browser, link), await submitToken(browser, token)])
        expect(response.status).toBe(410);
    } finally {
      await ageing.close();
    }
  });

  test("while its browser waits for the code of another mailbox, whose attempts stay", async () => {
    const browser = visitor(runtime);
    const [first, second] = [newAddress(), newAddress()];
    await submit(browser, "registration", "register_login_identifier", { email: first });
    await submit(browser, "registration", "back");
    await submit(browser, "registration", "register_login_identifier", { email: second });
    const before = await counted();
    const { token = "" } = await open(browser, mailedLink(runtime, first));
    for (let attempt = 0; attempt < 4; attempt++)
      expect((await submitToken(browser, token)).response.status).toBe(410);
    expect(await counted()).toBe(before);
    await press(browser, mailedLink(runtime, second));
    expect((await shownState(browser, "registration")).state.name).toBe("password_creation");
  });
});

describe("A168 a token that is none", () => {
  const rejected = async (query: string) => {
    const headers = { accept: "text/html" };
    const response = await visitor(runtime).request(`/mailed-link${query}`, { headers });
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    return response.status;
  };

  test("is answered with 400, and a page that leads on", async () => {
    const email = await account();
    await waitingLogin(email);
    const token = mailedLink(runtime, email).searchParams.get("token") ?? "";
    for (const query of [
      "",
      "?token=",
      "?token=AAAA",
      `?token=${token.slice(0, -1)}`,
      `?token=${token.slice(0, 40)}`,
      `?token=${token}x`,
      `?token=${token}&token=${token}`,
      "?token=%00%FF",
      `?token=${"A".repeat(2000)}`,
    ])
      expect([query, await rejected(query)]).toEqual([query, 400]);
    const posted = await submitToken(visitor(runtime), token.slice(1));
    expect(posted.response.status).toBe(400);
    expect(posted.html).toContain('href="/"');
  });

  test("of another tenant is none", async () => {
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const email = await account();
    const browser = await waitingLogin(email);
    const { search } = mailedLink(runtime, email);
    expect((await browser.request(`/t/${id}/mailed-link${search}`)).status).toBe(400);
    expect((await browser.request(`/mailed-link${search}`)).status).toBe(200);
  });

  test("A133 of a key that this server lacks is answered with 503, and works where the key is", async () => {
    const email = await account();
    const browser = await waitingLogin(email);
    const link = mailedLink(runtime, email);
    const lacking = { ...runtime, vault: createVault(["another key"]) };
    const before = await counted();
    const { response, html } = await open(visitor(lacking), link);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(html).toContain("<h1>");
    expect(await counted()).toBe(before);

    const rotated = { ...runtime, vault: createVault(["a newer key", "a key for tests alone"]) };
    const moved = visitor(rotated);
    for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
    await press(moved, link);
    expect(await isSignedIn(moved)).toBe(true);
  });
});

test("A133 a link is answered with 503 in a browser whose flow this server cannot open, not as in another browser", async () => {
  const email = await account();
  const begun = await waitingLogin(email);
  const link = mailedLink(runtime, email);
  const rotated = { ...runtime, vault: createVault(["a newer key", "a key for tests alone"]) };
  const browser = visitor(rotated);
  for (const [name, value] of begun.cookies) browser.cookies.set(name, value);
  const { version } = await shownState(browser, "login", rotated);
  const code = wrongOf(mailedCode(runtime, email));
  await browser.submit("/step", { flow: "login", action: "verify_passcode", version: String(version), code });

  const older = visitor(runtime);
  for (const [name, value] of browser.cookies) older.cookies.set(name, value);
  expect((await open(older, link)).response.status).toBe(503);
  await press(browser, link);
  expect(await isSignedIn(browser)).toBe(true);
});

describe("the setting email.links", () => {
  test("is off by default, and mails carry the code alone", async () => {
    const usual = await testRuntime();
    try {
      const email = newAddress();
      await restRegistration(usual, email);
      const job = usual.enqueued.find(({ to }) => to === email);
      expect(Object.keys(job?.mail ?? {}).sort()).toEqual(["code", "ttlSeconds", "type"]);
    } finally {
      await usual.close();
    }
  });

  test("is of a tenant, whose links are below its address", async () => {
    const made = await createTenant(runtime, {
      name: "Acme",
      hosts: [],
      settings: { email: { links: false } },
    });
    const tenants = {
      without: await runtime.tenants.byId(made.id),
      with: await runtime.tenants.byId(
        (await createTenant(runtime, { name: "Globex", hosts: [], settings: {} })).id,
      ),
    };
    if (!tenants.without || !tenants.with) throw new Error("the created tenants were not found");
    const email = newAddress();
    await submit(
      tenantVisitor(runtime, tenants.without),
      "registration",
      "register_login_identifier",
      { email },
      tenants.without,
    );
    expect(() => mailedLink(runtime, email)).toThrow("no link was mailed");

    const browser = tenantVisitor(runtime, tenants.with);
    const other = newAddress();
    await submit(browser, "registration", "register_login_identifier", { email: other }, tenants.with);
    const link = mailedLink(runtime, other);
    const prefix = `/t/${tenants.with.id}`;
    expect(link.pathname).toBe(`${prefix}/mailed-link`);
    const inside = new URL(link.href.replace(prefix, ""));
    const { html } = await open(browser, inside);
    expect(html).toContain(`action="${prefix}/mailed-link"`);
    const { response } = await press(browser, inside);
    // The address of a tenant's page, with the query of its flow.
    expect(response.headers.get("location")).toBe(`${prefix}?flow=registration`);
    expect((await shownState(browser, "registration", runtime, tenants.with)).state.name).toBe(
      "password_creation",
    );
  });

  test("A169 mails no link to an address without an account, and answers alike", async () => {
    const [known, unknown] = [await account(), newAddress()];
    const states = [];
    for (const email of [known, unknown]) {
      const browser = await waitingLogin(email);
      const { state } = await shownState(browser, "login");
      // The id of the flow is in the addresses of the actions.
      states.push(
        JSON.stringify(state)
          .replaceAll(email, "")
          .replaceAll(/%40[\da-f-]{36}/g, ""),
      );
    }
    expect(states[1]).toBe(states[0]);
    expect(() => mailedLink(runtime, unknown)).toThrow();
    expect(mailedLink(runtime, known).pathname).toBe("/mailed-link");
  });
});

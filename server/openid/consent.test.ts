import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlowClient, flowClient, type State } from "../testing/flow-client.ts";
import {
  newBrowser,
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";

/** The consent of users from outside: the built server, and an application that is not the operator's own. */

const secret = "a secret of the reader that has enough characters";
const resource = "https://api.example.com/orders";
const password = "correct horse battery staple";

let server: RunningServer;
let smtp: SmtpCatcher;
let reader: OpenidApplication;
let other: OpenidApplication;
let own: OpenidApplication;
let accounts = 0;

beforeAll(async () => {
  smtp = await startSmtp();
  const scopes = ["openid", "profile", "email", "phone", "offline_access", "orders:read"];
  const client = { secret, redirect_uris: [REDIRECT_URI], scopes, first_party: false };
  const clients = {
    reader: {
      ...client,
      name: "The library reader",
      client_uri: "https://reader.example.net/",
      policy_uri: "https://reader.example.net/privacy",
      tos_uri: "https://reader.example.net/terms",
    },
    other: { ...client, name: "Another reader" },
    own: { ...client, name: "Our own", first_party: true },
  };
  server = await startServer({
    env: {
      SMTP_URL: smtp.url,
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_OPENID_RESOURCES: JSON.stringify({ [resource]: { scopes: ["orders:read"] } }),
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  reader = await openidApplication(server.url, { clientId: "reader", secret });
  other = await openidApplication(server.url, { clientId: "other", secret });
  own = await openidApplication(server.url, { clientId: "own", secret });
});
afterAll(async () => {
  await server.stop();
  await smtp.close();
});

/** The browser of a new account, which is signed in. */
async function newVisitor(): Promise<FlowClient & { email: string }> {
  const email = `ada-${++accounts}@example.com`;
  const browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email });
  await browser.act("verify_passcode", { code: await smtp.codeFor(email) });
  await browser.act("register_password", { new_password: password });
  expect(browser.state.name).toBe("success");
  return Object.assign(browser, { email });
}

async function signIn(browser: FlowClient, email: string): Promise<void> {
  await browser.start("login");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("continue_with_login_identifier", { email });
  if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
  await browser.act("password_login", { password });
  expect(browser.state.name).toBe("success");
}

/** Sends a browser to the application's request. @returns the identifier of the request that its user is asked about */
async function ask(browser: FlowClient, application: OpenidApplication, parameters = {}) {
  const { url, checks } = await application.request({ scope: "openid email", ...parameters });
  const answered = await browser.request(`${url.pathname}${url.search}`);
  const page = new URL(answered.headers.get("location") ?? "");
  return { page, request: page.searchParams.get("request") ?? "", checks };
}

/** Begins the flow that asks the user. */
async function startConsent(browser: FlowClient, request: string): Promise<State> {
  const path = `/consent?request=${encodeURIComponent(request)}`;
  const response = await browser.request(path, { method: "POST" });
  const state = (await response.json()) as State;
  if (state.csrf_token) browser.adopt(state);
  return state;
}

/** Answers the question of the application, and goes back to it. */
async function answer(browser: FlowClient, request: string, action: string): Promise<URL> {
  await startConsent(browser, request);
  const { state } = await browser.act(action);
  expect(state.name).toBe("consent_answered");
  return visit(browser, new URL(String(state.payload.redirect_url)));
}

describe("an application that is not the operator's own", () => {
  test("gets what it asks for once the user allows it, and then without a question", async () => {
    const browser = await newVisitor();
    const { page, request, checks } = await ask(browser, reader);
    expect(page.pathname).toBe("/consent");
    const returned = await answer(browser, request, "consent_allow");
    const tokens = await openid.authorizationCodeGrant(reader.config, returned, checks);
    const sub = tokens.claims()?.sub ?? "";
    const user = await openid.fetchUserInfo(reader.config, tokens.access_token, sub);
    expect(user).toMatchObject({ email: browser.email });
    await reader.signIn(browser, { scope: "openid email" });
  });

  test("is named to the user with all that it asks for, and that it was allowed before", async () => {
    const browser = await newVisitor();
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    const claims = JSON.stringify({ userinfo: { phone_number: null } });
    const asked = { scope: "openid email orders:read", resource, claims };
    const state = await startConsent(browser, (await ask(browser, reader, asked)).request);
    expect(state).toMatchObject({
      name: "consent",
      payload: {
        identifier: browser.email,
        authorization: {
          client: {
            id: "reader",
            name: "The library reader",
            uri: "https://reader.example.net/",
            policy_uri: "https://reader.example.net/privacy",
            tos_uri: "https://reader.example.net/terms",
          },
          host: "app.example.com",
          scopes: ["openid", "email", "phone"],
          resources: [{ address: resource, scopes: ["orders:read"] }],
          allowed: ["openid", "email"],
        },
      },
    });
  });

  test("is told that the user has denied, and the user is asked the next time", async () => {
    const browser = await newVisitor();
    const { request } = await ask(browser, reader);
    const returned = await answer(browser, request, "consent_deny");
    expect(returned.searchParams.get("error")).toBe("access_denied");
    expect(returned.searchParams.get("code")).toBeNull();
    expect((await ask(browser, reader)).page.pathname).toBe("/consent");
  });

  test("has the user asked for what was not asked before alone", async () => {
    const browser = await newVisitor();
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    expect((await ask(browser, reader, { scope: "openid" })).page.href.startsWith(REDIRECT_URI)).toBe(true);
    expect((await ask(browser, reader, { scope: "openid phone" })).page.pathname).toBe("/consent");
    expect((await ask(browser, other)).page.pathname).toBe("/consent");
  });

  test("has the user asked again with prompt=consent, and gets a code for that answer alone", async () => {
    const browser = await newVisitor();
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    const again = { scope: "openid email offline_access", prompt: "consent" };
    const { request, checks } = await ask(browser, reader, again);
    const resume = new URL(`/oauth/authorize/${request}`, server.url);
    expect((await visit(browser, resume)).pathname).toBe("/consent");
    const asked = await ask(browser, reader, again);
    const returned = await answer(browser, asked.request, "consent_allow");
    const tokens = await openid.authorizationCodeGrant(reader.config, returned, asked.checks);
    expect(tokens.refresh_token).toEqual(expect.any(String));
    expect(checks).not.toEqual(asked.checks);
  });

  test.each([
    "login consent",
    "select_account consent",
    "create consent",
    "select_account create login consent",
  ])("has the user sign in and consent once each, where it asks for %s", async (prompt) => {
    const browser = await newVisitor();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { page, checks } = await ask(browser, reader, { scope: "openid email", prompt });
    expect(page.pathname).toBe("/login");
    await signIn(browser, browser.email);
    const resume = `/oauth/authorize/${browser.cookies.get("openid_resume")}`;
    const asked = new URL((await browser.request(resume)).headers.get("location") ?? "");
    expect(asked.pathname).toBe("/consent");
    const returned = await answer(browser, asked.searchParams.get("request") ?? "", "consent_allow");
    await openid.authorizationCodeGrant(reader.config, returned, checks);
  });

  test("gets consent_required with prompt=none", async () => {
    const { page } = await ask(await newVisitor(), reader, { prompt: "none" });
    expect(page.searchParams.get("error")).toBe("consent_required");
  });

  test("gets no more by a refresh than the user has allowed", async () => {
    const browser = await newVisitor();
    const { request, checks } = await ask(browser, reader);
    const returned = await answer(browser, request, "consent_allow");
    const tokens = await openid.authorizationCodeGrant(reader.config, returned, checks);
    await ask(browser, reader, { scope: "openid email phone" });
    const refreshed = openid.refreshTokenGrant(reader.config, tokens.refresh_token ?? "", {
      scope: "openid email phone",
    });
    await expect(refreshed).rejects.toMatchObject({ error: "invalid_scope" });
  });
});

describe("the account page", () => {
  async function account(browser: FlowClient) {
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    return browser.state;
  }

  test("lists the applications with what they may know and since when", async () => {
    const browser = await newVisitor();
    expect((await account(browser)).payload.applications).toEqual([]);
    expect(browser.state.actions).not.toHaveProperty("application_revoke");
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    await own.signIn(browser);
    expect((await account(browser)).payload.applications).toEqual([
      {
        id: "reader",
        name: "The library reader",
        scopes: ["openid", "email"],
        since: expect.stringMatching(/^2/),
      },
      { id: "own", name: "Our own", scopes: [], since: expect.stringMatching(/^2/) },
    ]);
  });

  test("ends the access of one: its tokens, and what was allowed; others keep theirs", async () => {
    const browser = await newVisitor();
    const { request, checks } = await ask(browser, reader);
    const returned = await answer(browser, request, "consent_allow");
    const tokens = await openid.authorizationCodeGrant(reader.config, returned, checks);
    const ofOwn = await own.signIn(browser);
    await account(browser);
    const ended = await browser.act("application_revoke", { application_id: "reader" });
    expect(ended.state.payload.applications).toMatchObject([{ id: "own" }]);
    const refreshed = openid.refreshTokenGrant(reader.config, tokens.refresh_token ?? "");
    await expect(refreshed).rejects.toMatchObject({ error: "invalid_grant" });
    const sub = tokens.claims()?.sub ?? "";
    await expect(openid.fetchUserInfo(reader.config, tokens.access_token, sub)).rejects.toThrow();
    await openid.fetchUserInfo(own.config, ofOwn.access_token, sub);
    expect((await ask(browser, reader)).page.pathname).toBe("/consent");
  });

  test("ends no access that it does not list", async () => {
    const browser = await newVisitor();
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    await account(browser);
    for (const application_id of ["other", "nothing", "x".repeat(3_000)])
      expect((await browser.act("application_revoke", { application_id })).status).toBeGreaterThanOrEqual(
        400,
      );
    expect((await account(browser)).payload.applications).toHaveLength(1);
  });
});

describe("the question of an application", () => {
  test("A215 is answered by the user who was shown it, for the application that was shown", async () => {
    const browser = await newVisitor();
    const shown = await startConsent(browser, (await ask(browser, reader)).request);
    const { question } = shown.actions.consent_allow?.inputs ?? {};
    await startConsent(browser, (await ask(browser, other)).request);
    const { state } = await browser.act("consent_allow", { question: question?.value });
    expect(state).toMatchObject({
      name: "consent",
      error: { code: "operation_not_permitted_error" },
      payload: { retry_after: 3 },
    });
    expect((await ask(browser, other)).page.pathname).toBe("/consent");
  });

  test("A215 in a flow of one user is not answered with the session of another", async () => {
    const [browser, stranger] = [await newVisitor(), await newVisitor()];
    await startConsent(browser, (await ask(browser, reader)).request);
    stranger.adopt(browser.state);
    expect((await stranger.act("consent_allow")).status).toBe(403);
    expect((await ask(browser, reader)).page.pathname).toBe("/consent");
  });

  test("A215 that one browser was asked lets no other browser in", async () => {
    const [browser, stranger] = [await newVisitor(), await newVisitor()];
    const { request } = await ask(browser, reader);
    expect((await startConsent(stranger, request)).status).toBe(410);
    const resume = new URL(`/oauth/authorize/${request}`, server.url);
    expect((await stranger.request(resume.pathname)).status).toBe(400);
    expect((await visit(browser, resume)).pathname).toBe("/consent");
  });

  test("is answered once: a second answer is refused, and a denial stands", async () => {
    const browser = await newVisitor();
    const { request } = await ask(browser, reader);
    await startConsent(browser, request);
    const question = browser.state;
    await browser.act("consent_deny");
    browser.adopt(question);
    expect((await browser.act("consent_allow")).status).toBe(403);
    const resume = new URL(`/oauth/authorize/${request}`, server.url);
    expect((await visit(browser, resume)).searchParams.get("error")).toBe("access_denied");
  });

  test("is not answered without naming it", async () => {
    const browser = await newVisitor();
    await startConsent(browser, (await ask(browser, reader)).request);
    expect(browser.state.actions.consent_allow?.inputs.question).toMatchObject({ required: true });
    const { status, state } = await browser.act("consent_allow", { question: undefined });
    expect(status).toBe(400);
    expect(state.actions.consent_allow?.inputs.question).toMatchObject({
      error: { code: "value_missing_error" },
    });
  });

  test.each([
    ["consent_allow", "consent_deny", "code"],
    ["consent_deny", "consent_allow", "error"],
  ])("that is shown in two windows takes the first answer: %s, not %s", async (first, second, result) => {
    const browser = await newVisitor();
    const { request } = await ask(browser, reader);
    await startConsent(browser, request);
    const earlier = browser.state;
    await startConsent(browser, request);
    await browser.act(first);
    browser.adopt(earlier);
    expect((await browser.act(second)).state.name).toBe("error");
    const resume = new URL(`/oauth/authorize/${request}`, server.url);
    const returned = await visit(browser, resume);
    expect([...returned.searchParams.keys()]).toContain(result);
  });

  test("does not give back what its user has withdrawn while it was shown", async () => {
    const browser = await newVisitor();
    await answer(browser, (await ask(browser, reader)).request, "consent_allow");
    await startConsent(browser, (await ask(browser, reader, { scope: "openid phone" })).request);
    const shown = browser.state;
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("application_revoke", { application_id: "reader" });
    browser.adopt(shown);
    expect((await browser.act("consent_allow")).state.name).toBe("error");
    expect((await ask(browser, reader, { scope: "openid" })).page.pathname).toBe("/consent");
  });

  test("needs a session, and a request that waits for an answer", async () => {
    const browser = await newVisitor();
    const { request } = await ask(browser, reader);
    expect((await startConsent(newBrowser(server), request)).error?.code).toBe("unauthorized");
    for (const unknown of ["", "nothing", "x".repeat(5_000)])
      expect((await startConsent(browser, unknown)).status).toBe(410);
    await answer(browser, request, "consent_deny");
    expect((await startConsent(browser, request)).status).toBe(410);
  });

  test("that waits for a sign-in is not shown as one for consent", async () => {
    const browser = await newVisitor();
    const { page } = await ask(browser, reader, { prompt: "login" });
    const resume = new URL(page.searchParams.get("redirect_to") ?? "");
    const request = resume.pathname.split("/").at(-1) ?? "";
    expect((await startConsent(browser, request)).status).toBe(410);
  });
});

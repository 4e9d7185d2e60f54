import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlowClient, flowClient, type State } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** Devices without a browser (RFC 8628) from outside: the built server, and `openid-client` as the device. */

const secret = "a secret of the set-top box with enough characters";
const password = "correct horse battery staple";
const resource = "https://api.example.com/films";

let server: RunningServer;
let tv: OpenidApplication;
let reader: OpenidApplication;
let accounts = 0;

beforeAll(async () => {
  const scopes = ["openid", "email", "offline_access", "films:watch"];
  const clients = {
    tv: { name: "The shop on TV", grants: ["device_code", "refresh_token"], scopes },
    reader: { name: "A reader", secret, grants: ["device_code"], scopes, first_party: false },
    web: { name: "The shop", secret, redirect_uris: [REDIRECT_URI] },
  };
  server = await startServer({
    env: {
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_DEVICE_FLOW: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_OPENID_RESOURCES: JSON.stringify({ [resource]: { scopes: ["films:watch"] } }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_DEVICE_CODES_PER_HOUR: "8",
    },
  });
  tv = await openidApplication(server.url, { clientId: "tv" });
  reader = await openidApplication(server.url, { clientId: "reader", secret });
});
afterAll(() => server.stop());

type Visitor = FlowClient & { email: string };

async function newVisitor(): Promise<Visitor> {
  const email = `ada-${++accounts}@example.com`;
  const browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email });
  await browser.act("register_password", { new_password: password });
  expect(browser.state.name).toBe("success");
  return Object.assign(browser, { email });
}

/** What a device asks for. */
const asked = (application: OpenidApplication, parameters: Record<string, string> = {}) =>
  openid.initiateDeviceAuthorization(application.config, { scope: "openid email", ...parameters });

type Codes = Awaited<ReturnType<typeof asked>>;

/** One request of a device for its tokens. */
const poll = ({ config }: OpenidApplication, { device_code }: Codes, more: Record<string, string> = {}) =>
  openid.genericGrantRequest(config, "urn:ietf:params:oauth:grant-type:device_code", {
    device_code,
    ...more,
  });

/** Begins the flow in which a user enters a code. */
async function start(browser: FlowClient): Promise<State> {
  const state = (await (await browser.request("/consent", { method: "POST" })).json()) as State;
  if (state.csrf_token) browser.adopt(state);
  return state;
}

/** Enters a code, and answers the question. */
async function answer(browser: FlowClient, codes: Codes, action: string): Promise<State> {
  await start(browser);
  await browser.act("device_code_verify", { user_code: codes.user_code });
  const { state } = await browser.act(action);
  expect(state).toMatchObject({ name: "consent_answered", payload: { device: true } });
  return state;
}

describe("a device", () => {
  test("gets its tokens once its user has entered its code and has said yes", async () => {
    const codes = await asked(tv, { scope: "openid email offline_access" });
    expect(codes).toMatchObject({
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${server.url}/device`,
      verification_uri_complete: `${server.url}/device?user_code=${codes.user_code}`,
      expires_in: 600,
    });
    await expect(poll(tv, codes)).rejects.toMatchObject({ error: "authorization_pending" });
    const browser = await newVisitor();
    await answer(browser, codes, "consent_allow");
    const tokens = await poll(tv, codes);
    const { sub, amr, auth_time } = decodeJwt(tokens.id_token ?? "");
    expect({ amr, auth_time }).toEqual({ amr: ["pwd"], auth_time: expect.any(Number) });
    const user = await openid.fetchUserInfo(tv.config, tokens.access_token, String(sub));
    expect(user).toMatchObject({ email: browser.email });
    const refreshed = await openid.refreshTokenGrant(tv.config, tokens.refresh_token ?? "");
    expect(refreshed.access_token).not.toBe(tokens.access_token);
  });

  test("is named to its user with its code and where it asks from, also of an application of the operator", async () => {
    const browser = await newVisitor();
    const codes = await asked(tv);
    expect(await start(browser)).toMatchObject({
      name: "device_code",
      payload: { identifier: browser.email },
      actions: { device_code_verify: { inputs: { user_code: { required: true } } } },
    });
    const { state } = await browser.act("device_code_verify", { user_code: codes.user_code });
    expect(state).toMatchObject({
      name: "consent",
      payload: {
        authorization: {
          client: { id: "tv", name: "The shop on TV" },
          host: "",
          scopes: ["openid", "email"],
          device: { code: codes.user_code, ip_address: expect.stringMatching(/^127\./) },
        },
      },
    });
  });

  test("is told that its user has said no", async () => {
    const codes = await asked(tv);
    await answer(await newVisitor(), codes, "consent_deny");
    await expect(poll(tv, codes)).rejects.toMatchObject({ error: "access_denied" });
  });

  test("gets a token for an API", async () => {
    const codes = await asked(tv, { scope: "films:watch", resource });
    await answer(await newVisitor(), codes, "consent_allow");
    const tokens = await poll(tv, codes, { resource });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: resource,
      scope: "films:watch",
      amr: ["pwd"],
      acr: "urn:stile:sign-in",
    });
  });

  test("stays signed in when its user signs out, and not when the user ends its access", async () => {
    const browser = await newVisitor();
    const codes = await asked(tv, { scope: "openid offline_access" });
    await answer(browser, codes, "consent_allow");
    const tokens = await poll(tv, codes);
    await browser.request("/logout", { method: "POST" });
    const refreshed = await openid.refreshTokenGrant(tv.config, tokens.refresh_token ?? "");
    await browser.start("login");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("continue_with_login_identifier", { email: browser.email });
    if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
    await browser.act("password_login", { password });
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    expect(browser.state.payload.applications).toMatchObject([{ id: "tv" }]);
    await browser.act("application_revoke", { application_id: "tv" });
    const again = openid.refreshTokenGrant(tv.config, refreshed.refresh_token ?? "");
    await expect(again).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("of an application that is not the operator's own leaves what was allowed with the user", async () => {
    const browser = await newVisitor();
    const codes = await asked(reader);
    await answer(browser, codes, "consent_allow");
    await poll(reader, codes);
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    expect(browser.state.payload.applications).toMatchObject([{ id: "reader", scopes: ["openid", "email"] }]);
  });

  test.each([
    ["acr_values", "urn:stile:mfa"],
    ["max_age", "0"],
    ["id_token_hint", "x"],
    ["claims", '{"id_token":{"acr":{"essential":true}}}'],
  ])("is refused that asks something of the sign-in, by %s", async (name, value) => {
    await expect(asked(tv, { [name]: value })).rejects.toMatchObject({
      error: "invalid_request",
      error_description: `\`${name}\` is not supported for devices.`,
    });
  });

  test("is refused that has no such grant", async () => {
    const web = await openidApplication(server.url, { clientId: "web", secret });
    await expect(asked(web)).rejects.toMatchObject({ error: "invalid_request" });
  });
});

describe("the code of a device", () => {
  test("A229 gives its tokens once, and the second request ends them", async () => {
    const codes = await asked(tv);
    await answer(await newVisitor(), codes, "consent_allow");
    const polls = await Promise.allSettled(Array.from({ length: 10 }, () => poll(tv, codes)));
    const won = polls.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(won.length).toBeLessThanOrEqual(1);
    for (const { refresh_token = "" } of won)
      await expect(openid.refreshTokenGrant(tv.config, refresh_token)).rejects.toMatchObject({
        error: "invalid_grant",
      });
  });

  test("A229 of another client is of no use to it", async () => {
    const codes = await asked(tv);
    await expect(poll(reader, codes)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("is taken in any case and with any separators, and refused where it is wrong or was used", async () => {
    const browser = await newVisitor();
    const codes = await asked(tv);
    await start(browser);
    for (const wrong of ["BCDF-GHJK", "nonsense", "1234-5678", "' or 1=1 --"]) {
      const { status, state } = await browser.act("device_code_verify", { user_code: wrong });
      expect(status).toBe(400);
      expect(state.actions.device_code_verify?.inputs.user_code).toMatchObject({
        error: { code: "value_invalid_error" },
      });
    }
    const typed = ` ${codes.user_code.toLowerCase().replace("-", " ")} `;
    expect((await browser.act("device_code_verify", { user_code: typed })).state.name).toBe("consent");
    await browser.act("consent_allow");
    await start(browser);
    expect((await browser.act("device_code_verify", { user_code: typed })).status).toBe(400);
  });

  test("A229 is answered once, by the first of two users who enter it", async () => {
    const [one, other] = [await newVisitor(), await newVisitor()];
    const codes = await asked(tv, { scope: "openid email" });
    for (const browser of [one, other]) {
      await start(browser);
      await browser.act("device_code_verify", { user_code: codes.user_code });
    }
    expect((await one.act("consent_allow")).state.name).toBe("consent_answered");
    expect((await other.act("consent_allow")).state.name).toBe("error");
    const tokens = await poll(tv, codes);
    const { sub } = decodeJwt(tokens.id_token ?? "");
    const user = await openid.fetchUserInfo(tv.config, tokens.access_token, String(sub));
    expect(user.email).toBe(one.email);
  });

  test("A229 is not found by guessing: a user may enter eight in an hour here", async () => {
    const browser = await newVisitor();
    await start(browser);
    for (let tries = 0; tries < 8; tries += 1)
      expect((await browser.act("device_code_verify", { user_code: "BCDF-GHJK" })).status).toBe(400);
    const { status, state } = await browser.act("device_code_verify", { user_code: "BCDF-GHJK" });
    expect(status).toBe(429);
    expect(state.payload.retry_after).toEqual(expect.any(Number));
  });

  test("needs a user who is signed in", async () => {
    expect((await start(flowClient(server.url))).error?.code).toBe("unauthorized");
  });
});

describe("the address that a device shows", () => {
  const html = { headers: { accept: "text/html" } };

  test("leads a visitor to sign in, and back to the code with the field filled", async () => {
    const browser = flowClient(server.url);
    const codes = await asked(tv);
    const first = await browser.request(`/device?user_code=${codes.user_code}`, html);
    const login = new URL(first.headers.get("location") ?? "", server.url);
    expect(login.pathname).toBe("/login");
    expect(login.searchParams.get("redirect_to")).toBe(`${server.url}/device`);
    expect((await browser.request(`${login.pathname}${login.search}`, html)).status).toBe(303);
    const visitor = await newVisitor();
    for (const [name, value] of visitor.cookies) browser.cookies.set(name, value);
    const second = await browser.request("/device", html);
    expect(second.headers.get("location")).toBe("/?flow=consent");
    const page = await visit(browser, new URL("/?flow=consent", server.url));
    const text = await (await browser.request(`${page.pathname}${page.search}`, html)).text();
    expect(text).toContain(`value="${codes.user_code}"`);
  });

  test("A229 that another site has led to fills no field of an address that its user types later", async () => {
    const browser = await newVisitor();
    const field = async () => {
      const text = await (await browser.request("/?flow=consent", html)).text();
      return /name="user_code"[^>]*/.exec(text)?.[0] ?? "";
    };
    await browser.request("/device?user_code=BCDF-GHJK", html);
    expect(await field()).toContain('value="BCDF-GHJK"');
    await browser.request("/device", html);
    expect(await field()).not.toContain("BCDF");
  });

  test("answers a program with 405, and any code without a failure", async () => {
    const browser = flowClient(server.url);
    expect((await browser.request("/device")).status).toBe(405);
    for (const code of ["", "<b>", "%00", `${"a".repeat(31)}%F0%9F%98%80`, "x".repeat(3_000)]) {
      expect((await browser.request(`/device?user_code=${code}`, html)).status).toBe(303);
      const started = await (await newVisitor()).request(`/consent?user_code=${code}`, { method: "POST" });
      expect([started.status, ((await started.json()) as State).name]).toEqual([200, "device_code"]);
    }
  });
});

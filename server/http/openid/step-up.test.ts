import { createHash, randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password, restRegistration } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";

/** An application asks for a stronger sign-in, and gets it in one redirect (RFC 9470). */

const returnTo = "https://app.example.com/callback";
const api = "https://api.example.com/orders";
const verifier = "v".repeat(43);

const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { name: "The shop", redirect_uris: [returnTo], scopes: ["openid", "orders:read"] },
  }),
  STILE_OPENID_RESOURCES: JSON.stringify({ [api]: { scopes: ["orders:read"] } }),
  STILE_MFA_DEVICE_TRUST_POLICY: "always",
  STILE_PASSKEY_ENABLED: "false",
});

/** Where an application's request leads a browser. */
async function ask(browser: Visitor, more: Record<string, string> = {}): Promise<URL> {
  const query = new URLSearchParams({
    client_id: "shop",
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid orders:read",
    resource: api,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  return new URL(answer.headers.get("location") ?? "");
}

/** The hosted page to which an application has sent a browser. */
async function hostedPage(browser: Visitor, at: URL) {
  expect(at.pathname).toBe("/login");
  expect((await browser.request(`${at.pathname}${at.search}`)).status).toBe(303);
  let answer: PageAnswer | undefined;
  const call = async (procedure: string, input: object): Promise<FlowState> => {
    const response = await browser.mutate(`flow.${procedure}`, { type: "login", ...input });
    answer = ((await response.json()) as { result: { data: PageAnswer } }).result.data;
    return answer.state;
  };
  await call("start", { capabilities: {} });
  return {
    get redirectTo() {
      return new URL(answer?.redirect_to ?? "");
    },
    act: (action: string, input = {}) => call("act", { version: answer?.version, action, input }),
  };
}

async function enterPassword(
  page: Awaited<ReturnType<typeof hostedPage>>,
  email: string,
): Promise<FlowState> {
  const chosen = await page.act("continue_with_login_identifier", { email });
  if (chosen.name !== "login_password") await page.act("continue_to_password_login");
  return page.act("password_login", { password });
}

/** Returns to the request, and redeems its code. @returns the claims of the ID token and of the access token */
async function redeem(browser: Visitor, at: URL) {
  const back =
    at.host === "app.example.com"
      ? at
      : new URL((await browser.request(at.pathname)).headers.get("location") ?? "");
  const answer = await visitor(runtime).submit("/oauth/token", {
    client_id: "shop",
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    redirect_uri: returnTo,
    code_verifier: verifier,
  });
  const tokens = (await answer.json()) as { id_token: string; access_token: string };
  return { id: decodeJwt(tokens.id_token), access: decodeJwt(tokens.access_token) };
}

const wanted = { acr_values: "urn:stile:mfa" };

test("a user without a second factor sets one up, without a choice, and goes back with what was asked for", async () => {
  const email = `${randomUUID()}@example.com`;
  const { visitor: browser } = await restRegistration(runtime, email);
  expect((await redeem(browser, await ask(browser))).access).toMatchObject({ acr: "urn:stile:sign-in" });

  const page = await hostedPage(browser, await ask(browser, wanted));
  const chooser = await enterPassword(page, email);
  expect([chooser.name, Object.keys(chooser.actions)]).toEqual([
    "mfa_method_chooser",
    ["continue_to_otp_secret_creation"],
  ]);
  const { payload } = await page.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(payload.otp_secret));
  const ended = await page.act("otp_code_verify", { otp_code: app.code(Date.now()) });
  expect(ended.name).toBe("success");
  const { id, access } = await redeem(browser, page.redirectTo);
  expect(id).toMatchObject({ acr: "urn:stile:mfa", amr: ["pwd", "totp"] });
  expect(access).toMatchObject({
    acr: "urn:stile:mfa",
    amr: id.amr,
    auth_time: id.auth_time,
    scope: "orders:read",
  });

  // The session is strong enough now, also for a client that would take less.
  expect((await ask(browser, wanted)).searchParams.get("code")).toBeTruthy();
  const less = await redeem(browser, await ask(browser, { acr_values: "urn:stile:sign-in urn:stile:mfa" }));
  expect(less.id.acr).toBe("urn:stile:sign-in");

  // The browser is trusted since: it skips the second factor, unless an application asks for it.
  await browser.request("/logout", { method: "POST" });
  const trusted = await hostedPage(browser, await ask(browser));
  expect((await enterPassword(trusted, email)).name).toBe("success");
  const again = await hostedPage(browser, await ask(browser, wanted));
  expect((await enterPassword(again, email)).name).toBe("login_otp");
});

test("one that cannot give it goes back with what it is, and is not asked without end", async () => {
  const email = `${randomUUID()}@example.com`;
  const { visitor: browser } = await restRegistration(runtime, email);
  const page = await hostedPage(browser, await ask(browser, { acr_values: "phr" }));
  const state = await enterPassword(page, email);
  expect(state.name).toBe("success");
  const { id, access } = await redeem(browser, page.redirectTo);
  expect([id.acr, access.acr]).toEqual(["urn:stile:sign-in", "urn:stile:sign-in"]);
});

test("a class that is not known asks for nothing; with prompt=none the application is told", async () => {
  const { visitor: browser } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  expect((await ask(browser, { acr_values: "urn:mace:silver" })).searchParams.get("code")).toBeTruthy();
  const told = await ask(browser, { ...wanted, prompt: "none" });
  expect(told.searchParams.get("error")).toBe("login_required");
});

test("an API can ask about an opaque token how its user has signed in", async () => {
  const { visitor: browser } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  const back = await ask(browser, { resource: "", scope: "openid" });
  const form = {
    client_id: "shop",
    grant_type: "authorization_code",
    redirect_uri: returnTo,
    code_verifier: verifier,
  };
  const issued = await visitor(runtime).submit("/oauth/token", {
    ...form,
    code: back.searchParams.get("code") ?? "",
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const told = await visitor(runtime).submit("/oauth/introspect", { client_id: "shop", token });
  expect(await told.json()).toMatchObject({
    active: true,
    acr: "urn:stile:sign-in",
    auth_time: expect.any(Number),
  });
});

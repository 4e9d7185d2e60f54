import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { FlowClient } from "../../../server/testing/flow-client.ts";
import {
  newBrowser,
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../../../server/testing/openid-application.ts";
import { type Service, startService } from "../../../server/testing/service.ts";
import { createStile, type ProtectedResource } from "./stile.ts";

/** Access tokens as the running service issues them. */

const resource = "https://api.example.com/orders";
const metadataUrl = "https://api.example.com/.well-known/oauth-protected-resource/orders";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("an access token of the running service", () => {
  const users = "https://api.example.com/users";
  const secret = "a secret of the shop that has enough characters";
  const password = "nine otters under the bridge";
  const email = "ada@example.com";

  let service: Service;
  let shop: OpenidApplication;
  let browser: FlowClient;
  let api: ProtectedResource;
  let token: string;
  let userId: string;

  beforeAll(async () => {
    const client = {
      secret,
      redirect_uris: [REDIRECT_URI],
      grants: ["authorization_code", "client_credentials"],
      scopes: ["openid", "orders:read", "orders:write"],
    };
    service = await startService({
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify({
        shop: { ...client, name: "The shop" },
        bound: { ...client, name: "Bound to a key", require_dpop: true },
      }),
      STILE_OPENID_RESOURCES: JSON.stringify({
        [resource]: { scopes: ["orders:read", "orders:write"] },
        [users]: { scopes: ["orders:read"] },
      }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    });
    const { url } = service.server;
    api = createStile({ baseUrl: url }).protectResource({
      resource,
      scopes: ["orders:read", "orders:write"],
    });
    shop = await openidApplication(url, { clientId: "shop", secret });
    browser = newBrowser(service.server);
    await browser.start("registration");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("register_login_identifier", { email });
    await browser.act("register_password", { new_password: password });
    expect(browser.state.name).toBe("success");
    const tokens = await shop.signIn(browser, { scope: "openid orders:read", resource });
    token = tokens.access_token;
    userId = tokens.claims()?.sub ?? "";
  });
  afterAll(() => service?.close());

  /** The answer to a refused request. */
  const refusal = (status: number, error: string, description: string, more = "") => ({
    ok: false,
    status,
    headers: {
      "WWW-Authenticate": `Bearer error="${error}", error_description="${description}"${more}, resource_metadata="${metadataUrl}"`,
    },
    body: { error, error_description: description },
  });

  const movedBy = (seconds: number) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    onTestFinished(() => void vi.useRealTimers());
  };

  test("for the API is accepted, with its user, client and scopes", async () => {
    const { exp = 0, ...claims } = decodeJwt(token);
    const request = new Request(resource, bearer(token));
    const needs = { scopes: ["orders:read"], acr: ["phr", "urn:stile:sign-in"], maxAge: 600 };
    expect(await api.verify(request, needs)).toEqual({
      ok: true,
      access: {
        userId,
        clientId: "shop",
        scopes: ["orders:read"],
        expiresAt: new Date(exp * 1000),
        claims: { ...claims, exp },
      },
    });
  });

  test("that a client has by its credentials has no user", async () => {
    const tokens = await openid.clientCredentialsGrant(shop.config, { resource, scope: "orders:write" });
    expect(await api.verify(tokens.access_token, { scopes: ["orders:write"] })).toMatchObject({
      ok: true,
      access: { userId: null, clientId: "shop", scopes: ["orders:write"], claims: { sub: "shop" } },
    });
    expect(await api.verify(tokens.access_token, { maxAge: 3600 })).toMatchObject({
      body: { error: "insufficient_user_authentication" },
    });
  });

  test.each<[name: string, presented: () => string | undefined | Promise<string | undefined>]>([
    [
      "A225 for another API",
      async () => (await shop.signIn(browser, { scope: "openid orders:read", resource: users })).access_token,
    ],
    ["A225 for no API", async () => (await shop.signIn(browser)).access_token],
    ["A225 that is an ID token", async () => (await shop.signIn(browser)).id_token],
    ["A225 that is the token of the session", () => browser.cookies.get("service")],
    [
      "A225 with alg none",
      () => `${btoa('{"alg":"none","typ":"at+jwt"}').replace(/=+$/, "")}.${token.split(".")[1]}.`,
    ],
    ["A225 whose signature is another's", () => `${token.slice(0, -10)}AAAAAAAAAA`],
  ])("%s is refused", async (_, presented) => {
    const shown = await presented();
    expect(shown).toMatch(/^.{20,}$/);
    expect(await api.verify(bearer(String(shown)))).toEqual(
      refusal(401, "invalid_token", "The access token is invalid."),
    );
  });

  test("A225 is refused where the service has another address, although its key is known there", async () => {
    const elsewhere = createStile({
      baseUrl: "https://elsewhere.example",
      // The issuer of sessions is not that of access tokens.
      issuer: service.server.url,
      fetch: (input, init) =>
        fetch(String(input).replace("https://elsewhere.example", service.server.url), init),
    });
    expect(await elsewhere.protectResource({ resource }).verify(token)).toEqual(
      refusal(401, "invalid_token", "The access token is invalid."),
    );
  });

  test("A225 that has expired is refused", async () => {
    movedBy(601);
    expect(await api.verify(token)).toEqual(refusal(401, "invalid_token", "The access token is expired."));
  });

  test("A225 that is bound to a key of its client is refused without a proof", async () => {
    const { config } = await openidApplication(service.server.url, { clientId: "bound", secret });
    const dpop = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const parameters = { resource, scope: "orders:read" };
    const tokens = await openid.clientCredentialsGrant(config, parameters, { DPoP: dpop });
    expect(decodeJwt(tokens.access_token)).toHaveProperty("cnf.jkt");
    expect(await api.verify(bearer(tokens.access_token))).toEqual(
      refusal(
        401,
        "invalid_token",
        "The access token is bound to a key, and no proof of the key is verified here.",
      ),
    );
    const byDpop = { headers: { authorization: `DPoP ${tokens.access_token}` } };
    expect(await api.verify(byDpop)).toEqual(await api.verify(null));
  });

  test("that is not presented is asked for, with the scopes that are needed", async () => {
    for (const presented of [undefined, new Request(resource), { headers: { cookie: `service=${token}` } }])
      expect(await api.verify(presented, { scopes: ["orders:write"] })).toEqual({
        ok: false,
        status: 401,
        headers: { "WWW-Authenticate": `Bearer scope="orders:write", resource_metadata="${metadataUrl}"` },
        body: {},
      });
  });

  test("whose scope is too small is refused with the scope that is needed", async () => {
    expect(await api.verify(token, { scopes: ["orders:read", "orders:write"] })).toEqual(
      refusal(
        403,
        "insufficient_scope",
        "The access token lacks a scope that is needed.",
        ', scope="orders:read orders:write"',
      ),
    );
  });

  test("of a sign-in that is too weak is refused with the classes that are needed", async () => {
    expect(await api.verify(token, { acr: ["phr", "urn:stile:mfa"] })).toEqual(
      refusal(
        401,
        "insufficient_user_authentication",
        "A stronger or more recent sign-in is needed.",
        ', acr_values="phr urn:stile:mfa"',
      ),
    );
  });

  test("of a sign-in that is too old is refused, until the user signs in as the challenge says", async () => {
    const needs = { acr: "urn:stile:sign-in", maxAge: 60 };
    movedBy(120);
    const refused = await api.verify(token, needs);
    vi.useRealTimers();
    expect(refused).toEqual(
      refusal(
        401,
        "insufficient_user_authentication",
        "A stronger or more recent sign-in is needed.",
        ', acr_values="urn:stile:sign-in", max_age="60"',
      ),
    );
    const asked = { acr_values: "urn:stile:sign-in", max_age: "0" };
    const { url, checks } = await shop.request({ scope: "openid orders:read", resource, ...asked });
    await visit(browser, url);
    const resume = new URL(`/oauth/authorize/${browser.cookies.get("openid_resume")}`, url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await browser.start("login");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("continue_with_login_identifier", { email });
    if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
    await browser.act("password_login", { password });
    const returned = await visit(browser, resume);
    const again = await openid.authorizationCodeGrant(shop.config, returned, { ...checks, maxAge: 60 });
    const [before, after] = [token, again.access_token].map((each) => Number(decodeJwt(each).auth_time));
    expect(after).toBeGreaterThan(Number(before));
    expect(await api.verify(again.access_token, needs)).toMatchObject({ ok: true, access: { userId } });
  });
});

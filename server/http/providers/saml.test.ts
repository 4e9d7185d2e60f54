import { X509Certificate } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import type { Answer } from "../../testing/saml-messages.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { findExchangeToken } from "../../thirdparty/exchange-tokens.ts";
import { RELAY_STATE_PREFIX } from "../../thirdparty/saml/authn-request.ts";

const provider = samlIdentityProvider();
const sp = { consumerUrl: "http://localhost:3000/saml/callback", audience: "http://localhost:3000" };
const there = "https://app.example.com/back";
const settings = (more: object = {}) => ({
  STILE_SAML_ENABLED: "true",
  STILE_SAML_ALLOWED_REDIRECT_URLS: there,
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    {
      name: "example",
      domains: ["example.org"],
      metadata: provider.metadata,
      allow_idp_initiated: true,
      attribute_map: {},
      ...more,
    },
    { name: "broken", domains: ["broken.example"], metadata: "<" },
  ]),
});

const runtime = await runtimeForTests(settings());

const auth = (browser: Visitor, domain = "example.org", redirectTo = there) =>
  browser.request(`/saml/auth?${new URLSearchParams({ domain, redirect_to: redirectTo })}`);

/** Posts the form of a provider's page. */
const post = (browser: Visitor, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  browser.request("/saml/callback", {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "sec-fetch-site": "cross-site", origin: "https://idp.example.org", ...headers },
  });

/** Sends a user to the provider, and reads the request. */
async function sent(browser = visitor(runtime)) {
  const response = await auth(browser);
  expect(response.status).toBe(307);
  return { browser, request: provider.read(response.headers.get("location") ?? "") };
}

async function answered(about: Partial<Answer> = {}, fields: Record<string, string> = {}) {
  const { browser, request } = await sent();
  const SAMLResponse = await provider.answer({ ...sp, inResponseTo: request.id, ...about });
  const response = await post(browser, { SAMLResponse, RelayState: request.relayState, ...fields });
  return { browser, request, SAMLResponse, response };
}

/** The redirect of a response. */
function target(response: Response): URL {
  expect(response.status).toBe(303);
  return new URL(response.headers.get("location") ?? "");
}

const errorOf = (response: Response) => target(response).searchParams.get("error");

const tokenOf = (response: Response, at = runtime) =>
  findExchangeToken(
    { runtime: at, tenant: at.tenant, now: new Date() },
    target(response).searchParams.get("hanko_token") ?? "",
  );

describe("while SAML is disabled", () => {
  test("every address is 403", async () => {
    const off = runtime.configured({ ...settings(), STILE_SAML_ENABLED: "false" });
    const browser = visitor(off);
    for (const response of [
      await auth(browser),
      await browser.request("/saml/metadata?domain=example.org"),
      await post(browser, { SAMLResponse: "x" }),
    ]) {
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({ code: 403, message: expect.stringContaining("saml.enabled") });
    }
  });

  test("no flow starts or continues at /token_exchange", async () => {
    const off = runtime.configured({ ...settings(), STILE_SAML_ENABLED: "false" });
    for (const path of [
      "/token_exchange",
      `/token_exchange?action=exchange_token%40${crypto.randomUUID()}`,
    ]) {
      const response = await visitor(off).post(path, { csrf_token: "x", input_data: { token: "x" } });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        name: "error",
        status: 403,
        error: { code: "operation_not_permitted_error" },
        actions: {},
        csrf_token: "",
      });
    }
  });
});

describe("GET /saml/metadata", () => {
  test("returns the metadata, or one of its certificates, for a domain that has a provider", async () => {
    const browser = visitor(runtime);
    const metadata = await browser.request("/saml/metadata?domain=example.org");
    expect(metadata.status).toBe(200);
    expect(metadata.headers.get("content-type")).toBe("application/samlmetadata+xml; charset=utf-8");
    expect(metadata.headers.get("content-disposition")).toContain("attachment");
    const xml = await metadata.text();
    expect(xml).toContain('entityID="http://localhost:3000"');
    expect(xml).toContain('Location="http://localhost:3000/saml/callback"');
    const bareOf = async (query: string) => {
      const response = await browser.request(`/saml/metadata?domain=example.org&${query}`);
      return new X509Certificate(await response.text()).raw.toString("base64");
    };
    const [signing, encryption] = [await bareOf("cert_only=true"), await bareOf("cert_only=encryption")];
    expect(signing).not.toBe(encryption);
    expect(xml.indexOf(signing)).toBeGreaterThan(0);
    expect(xml.indexOf(encryption)).toBeGreaterThan(xml.indexOf(signing));
    const plain = runtime.configured({ ...settings(), STILE_SAML_OPTIONS_ENCRYPT_ASSERTIONS: "false" });
    const unencrypted = await visitor(plain).request("/saml/metadata?domain=example.org");
    expect(await unencrypted.text()).not.toContain('use="encryption"');
    const certificate = await visitor(plain).request(
      "/saml/metadata?domain=example.org&cert_only=encryption",
    );
    expect(certificate.status).toBe(404);
  });

  test.each(["", "?domain=", "?domain=example.com", "?domain=example.org&domain=x"])(
    "is 404 for %j",
    async (query) => {
      const response = await visitor(runtime).request(`/saml/metadata${query}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 404 });
    },
  );
});

describe("GET /saml/auth", () => {
  test("redirects to the provider of the domain and sets a state cookie", async () => {
    const { browser, request } = await sent();
    expect(request).toMatchObject({ issuer: "http://localhost:3000", consumerUrl: sp.consumerUrl });
    const state = browser.cookies.get("third-party-state");
    expect(request.relayState).toBe(RELAY_STATE_PREFIX + state);
    expect(browser.setCookies[0]).toMatch(/; HttpOnly; Secure; SameSite=None$/);
  });

  test("A46 rejects a return address that is not allowed", async () => {
    for (const wanted of [
      "https://evil.example/",
      "//evil.example",
      "javascript:alert(1)",
      `${there}/../x`,
      "x",
    ]) {
      const location = target(await auth(visitor(runtime), "example.org", wanted));
      expect(location.origin + location.pathname).toBe("http://localhost:3000/");
      expect(location.searchParams.get("error")).toBe("invalid_request");
    }
    const twice = await visitor(runtime).request(
      `/saml/auth?domain=example.org&redirect_to=${there}&redirect_to=https://evil.example`,
    );
    expect(target(twice).origin).toBe("http://localhost:3000");
  });

  test("reports at the return address a domain without a provider, or an unusable provider", async () => {
    const unknown = target(await auth(visitor(runtime), "example.com"));
    expect(unknown.href).toMatch(
      /^https:\/\/app\.example\.com\/back\?error=invalid_request&error_description=/,
    );
    const broken = target(await auth(visitor(runtime), "broken.example"));
    expect(broken.searchParams.get("error")).toBe("server_error");
  });

  test("is rate limited", async () => {
    const limited = runtime.configured({
      ...settings(),
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1",
    });
    const browser = visitor(limited, "192.0.2.77");
    expect((await auth(browser)).status).toBe(307);
    const refused = await auth(browser);
    expect(errorOf(refused)).toBe("rate_limit_exceeded");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("A37 rejects requests that are not top-level navigations", async () => {
    const browser = visitor(runtime);
    for (const dest of ["image", "iframe", "empty", "script"]) {
      const response = await browser.request("/saml/auth?domain=example.org", {
        headers: { "sec-fetch-site": "cross-site", "sec-fetch-dest": dest },
      });
      expect([response.status, browser.setCookies]).toEqual([403, []]);
    }
    const sent = await browser.request("/saml/auth?domain=example.org", {
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" },
    });
    expect(sent.status).toBe(307);
  });

  test("does nothing for HEAD", async () => {
    const browser = visitor(runtime);
    const response = await browser.request("/saml/auth?domain=example.org", { method: "HEAD" });
    expect(response.status).toBe(204);
    expect(browser.cookies.size).toBe(0);
  });
});

describe("POST /saml/callback", () => {
  test("redirects with a token that belongs to no flow", async () => {
    const { browser, response } = await answered();
    const location = target(response);
    expect(location.origin + location.pathname).toBe(there);
    expect([...location.searchParams.keys()].toSorted()).toEqual(["hanko_token", "saml_hint"]);
    expect(await tokenOf(response)).toMatchObject({
      flowId: null,
      facts: { provider: `saml:${provider.entityId}`, subject: "u-1" },
    });
    expect(browser.cookies.has("third-party-state")).toBe(false);
  });

  test("accepts an IdP-initiated sign-on", async () => {
    const SAMLResponse = await provider.answer({ ...sp });
    const response = await post(visitor(runtime), { SAMLResponse, RelayState: "https://evil.example/" });
    const location = target(response);
    expect(location.origin + location.pathname).toBe("http://localhost:3000/");
    expect(location.searchParams.get("saml_hint")).toBe("idp_initiated");
    expect((await tokenOf(response))?.flowId).toBeNull();
    const elsewhere = runtime.configured({
      ...settings(),
      STILE_SAML_DEFAULT_REDIRECT_URL: "https://portal.example.com/in",
    });
    const answer = await provider.answer({ ...sp });
    expect(target(await post(visitor(elsewhere), { SAMLResponse: answer })).host).toBe("portal.example.com");
  });

  test("A59 rejects a replayed response and a response to another request", async () => {
    const { browser, request, SAMLResponse, response } = await answered();
    expect(target(response).searchParams.has("hanko_token")).toBe(true);
    expect(errorOf(await post(browser, { SAMLResponse, RelayState: request.relayState }))).toBe(
      "invalid_request",
    );
    const other = await sent();
    const crossed = await post(other.browser, { SAMLResponse, RelayState: other.request.relayState });
    expect(errorOf(crossed)).toBe("invalid_request");
    expect(errorOf(await post(visitor(runtime), { SAMLResponse }))).toBe("invalid_request");
    const unsolicited = await provider.answer({ ...sp });
    expect(
      target(await post(visitor(runtime), { SAMLResponse: unsolicited })).searchParams.has("hanko_token"),
    ).toBe(true);
    expect(errorOf(await post(visitor(runtime), { SAMLResponse: unsolicited }))).toBe("invalid_request");
  });

  test("A47 requires the browser and the state of the request", async () => {
    const { request } = await sent();
    const SAMLResponse = await provider.answer({ ...sp, inResponseTo: request.id });
    const stranger = await post(visitor(runtime), { SAMLResponse, RelayState: request.relayState });
    expect(errorOf(stranger)).toBe("invalid_request");
    expect(target(stranger).origin).toBe("https://app.example.com");
    for (const RelayState of [
      RELAY_STATE_PREFIX,
      `${RELAY_STATE_PREFIX}x`,
      RELAY_STATE_PREFIX + "A".repeat(43),
      `${RELAY_STATE_PREFIX}\0`,
    ]) {
      const lost = target(await post(visitor(runtime), { SAMLResponse, RelayState }));
      expect(lost.origin).toBe("http://localhost:3000");
      expect(lost.searchParams.get("error")).toBe("invalid_request");
    }
  });

  test("rejects a response after ten minutes", async () => {
    const late = runtime.configured(settings());
    const { browser, request } = await sent(visitor(late));
    late.advanceClock(601);
    const SAMLResponse = await provider.answer({ ...sp, inResponseTo: request.id });
    expect(errorOf(await post(browser, { SAMLResponse, RelayState: request.relayState }))).toBe(
      "invalid_request",
    );
    late.advanceClock(-601);
  });

  test("reports a denial by the provider, and audits the reason of each rejection", async () => {
    const { response } = await answered({ status: "urn:oasis:names:tc:SAML:2.0:status:Responder" });
    expect(target(response).searchParams.get("error")).toBe("access_denied");
    await answered({ audience: "https://other.example" });
    const lines = await runtime.database.read
      .select({ details: schema.auditLogs.details })
      .from(schema.auditLogs)
      .where(
        and(
          eq(schema.auditLogs.type, "thirdparty_signin_signup_failed"),
          eq(schema.auditLogs.tenantId, runtime.tenant.id),
        ),
      );
    const reasons = lines.map(({ details }) => details.reason);
    expect(reasons).toContain("status_not_success");
    expect(reasons).toContain("audience");
  });

  test("answers malformed forms with an error", async () => {
    const browser = visitor(runtime);
    const forms: (string | Record<string, string>)[] = [
      "",
      "SAMLResponse=",
      "SAMLResponse=%00",
      "SAMLResponse=a&SAMLResponse=b",
      "SAMLResponse=a&RelayState=b&RelayState=c",
      "SAMLResponse=%ff%fe",
      "SAMLResponse=PHg%2B",
      "SAMLRequest=PHg%2B",
      "__proto__=x&SAMLResponse=eA%3D%3D&RelayState=__proto__",
    ];
    for (const form of forms) {
      const response = await browser.request("/saml/callback", {
        method: "POST",
        body: new URLSearchParams(form),
      });
      expect(errorOf(response)).toBe("invalid_request");
    }
    const json = await browser.post("/saml/callback", { SAMLResponse: "x" });
    expect(errorOf(json)).toBe("invalid_request");
    const long = await post(browser, { SAMLResponse: "A".repeat(600_000) });
    expect(long.status).toBe(413);
    expect((await browser.request("/saml/callback")).status).toBe(405);
  });

  test("A61 is rate limited", async () => {
    const limited = runtime.configured({
      ...settings(),
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2",
    });
    const browser = visitor(limited, "192.0.2.78");
    const SAMLResponse = "PHg+";
    for (const _ of [1, 2]) expect(errorOf(await post(browser, { SAMLResponse }))).toBe("invalid_request");
    const refused = await post(browser, { SAMLResponse });
    expect(errorOf(refused)).toBe("rate_limit_exceeded");
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    // The rate of starts is separate.
    expect((await auth(browser)).status).toBe(307);
  });

  test("binds the token of a flow to that flow", async () => {
    const at = runtime.configured(settings());
    const browser = visitor(at);
    const start = await (await browser.post("/login")).json();
    const able = await (
      await browser.post(start.actions.register_client_capabilities.href, {
        csrf_token: start.csrf_token,
        input_data: { webauthn_available: false },
      })
    ).json();
    const identifier = able.actions.continue_with_login_identifier;
    const [input] = Object.keys(identifier.inputs);
    const state = await (
      await browser.post(identifier.href, {
        csrf_token: able.csrf_token,
        input_data: { [String(input)]: "ada@example.org" },
      })
    ).json();
    expect(state.name).toBe("thirdparty");
    const request = provider.read(state.payload.redirect_url);
    const SAMLResponse = await provider.answer({ ...sp, inResponseTo: request.id });
    const response = await post(browser, { SAMLResponse, RelayState: request.relayState });
    expect(target(response).searchParams.has("saml_hint")).toBe(false);
    const flowId = new URL(state.actions.exchange_token.href, "http://x").searchParams
      .get("action")
      ?.split("@")[1];
    expect((await tokenOf(response))?.flowId).toBe(flowId);
  });
});

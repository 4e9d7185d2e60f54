import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate, pemOf } from "../../lib/certificates.ts";
import type { LookupOptions } from "../../lib/public-lookup.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { consoleAccount } from "../../testing/console-account.ts";
import { json, startFakeProvider } from "../../testing/fake-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { providerMetadata, samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { startSamlProvider } from "../../testing/saml-provider-server.ts";
import { createPublicFetch, providerNetwork } from "../../thirdparty/provider-fetch.ts";

/** Checks of what the settings of identity providers lead to. */

const fake = await openForTests(startFakeProvider("client"));
const near = await openForTests(startSamlProvider());
const runtime = await runtimeForTests({
  STILE_SAML_ENABLED: "true",
  STILE_THIRD_PARTY_TIMEOUT: "2",
});
const operator = await adminOperator(runtime);
const { id: tenantId } = await createTenant(runtime, {
  name: "Acme",
  hosts: [],
  settings: { saml: { enabled: true } },
});
const place = `/tenants/${tenantId}`;

afterEach(() => fake.reset());

interface Finding {
  check: string;
  outcome: string;
  message: string;
}

const settings = { display_name: "Fake", client_id: "client", secret: "secret", issuer: fake.issuer };

async function checkOAuth(more: object = {}, id = "custom_fake", at = operator, prefix = place) {
  const answer = await at.call("POST", `${prefix}/oauth/provider_check`, {
    provider_id: id,
    settings: { ...settings, ...more },
  });
  return { status: answer.status, findings: answer.body as Finding[] };
}

async function checkSaml(more: object) {
  const answer = await operator.call("POST", `${place}/saml/provider_check`, {
    settings: { name: "Example", domains: ["example.org"], ...more },
  });
  return { status: answer.status, findings: answer.body as Finding[] };
}

const of = (findings: Finding[], check: string) => findings.find((finding) => finding.check === check);
const outcomes = (findings: Finding[]) =>
  Object.fromEntries(findings.map(({ check, outcome }) => [check, outcome]));

const DISCOVERY = "/.well-known/openid-configuration";

/** Changes the discovery document of the fake provider. */
function discovers(more: Record<string, unknown>) {
  const { issuer } = fake;
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    scopes_supported: ["openid", "email", "profile"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    id_token_signing_alg_values_supported: ["RS256"],
    end_session_endpoint: `${issuer}/leave`,
  };
  fake.answers[DISCOVERY] = (response) => json(response, { ...document, ...more });
}

describe("an OpenID provider", () => {
  test("whose settings are right has no fault, and nothing is saved", async () => {
    discovers({});
    const { status, findings } = await checkOAuth({ rp_initiated_logout: true });
    expect(status).toBe(200);
    expect(outcomes(findings)).toEqual({
      discovery: "ok",
      issuer: "ok",
      endpoints: "ok",
      response_types: "ok",
      scopes: "ok",
      pkce: "ok",
      client_authentication: "ok",
      signatures: "ok",
      keys: "ok",
      logout: "ok",
      clock: "ok",
    });
    const listed = await operator.call("GET", `${place}/oauth/providers/custom_fake`);
    expect(listed.status).toBe(404);
  });

  test.each<[string, Record<string, unknown>, object]>([
    ["issuer", { issuer: "https://other.example" }, {}],
    ["endpoints", { token_endpoint: undefined }, {}],
    ["response_types", { response_types_supported: ["id_token"] }, {}],
    ["client_authentication", { token_endpoint_auth_methods_supported: ["private_key_jwt"] }, {}],
    ["client_authentication", {}, { secret: null }],
    ["signatures", { id_token_signing_alg_values_supported: ["none", "HS256"] }, {}],
    ["keys", { jwks_uri: `${fake.issuer}/nowhere` }, {}],
  ])("has an error in %s with %o and the settings %o", async (check, document, more) => {
    discovers(document);
    const { findings } = await checkOAuth(more);
    expect(of(findings, check)).toMatchObject({ outcome: "error", message: expect.stringMatching(/\.$/) });
  });

  test.each<[string, Record<string, unknown>]>([
    ["pkce", { code_challenge_methods_supported: ["plain"] }],
    ["pkce", { code_challenge_methods_supported: undefined }],
    ["scopes", { scopes_supported: ["openid"] }],
    ["response_types", { response_types_supported: undefined }],
    ["logout", { end_session_endpoint: undefined }],
  ])("has a warning about %s with %o", async (check, document) => {
    discovers(document);
    const { findings } = await checkOAuth({ rp_initiated_logout: true });
    expect(of(findings, check)?.outcome).toBe("warning");
  });

  test("whose clock is wrong, or whose keys are of no use, is told of", async () => {
    fake.answers[DISCOVERY] = (response) => {
      response.setHeader("Date", new Date(Date.now() - 3_600_000).toUTCString());
      json(response, { issuer: fake.issuer });
    };
    expect(of((await checkOAuth()).findings, "clock")).toMatchObject({
      outcome: "warning",
      message: expect.stringContaining("behind"),
    });
    discovers({});
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const short = publicKey.export({ format: "jwk" });
    fake.answers["/jwks"] = (response) => json(response, { keys: [short, { kty: "oct", k: "AAAA" }] });
    expect(of((await checkOAuth()).findings, "keys")?.outcome).toBe("error");
    fake.answers["/jwks"] = (response) =>
      json(response, { keys: Array.from({ length: 101 }, () => fake.publicJwk) });
    expect(of((await checkOAuth()).findings, "keys")).toMatchObject({
      outcome: "error",
      message: expect.stringContaining("more than 100 keys"),
    });
  });

  test("that has settings which are not valid, or is off, is told of", async () => {
    const { findings } = await checkOAuth({ issuer: null });
    expect(findings).toMatchObject([{ check: "settings", outcome: "error" }]);
    discovers({});
    const off = await checkOAuth({ enabled: false });
    expect(off.findings[0]).toMatchObject({ check: "enabled", outcome: "warning" });
    const unknown = await checkOAuth({}, "absent");
    expect(unknown.status).toBe(404);
  });

  test("A344 that is slow, too large, redirects or is no provider is told of in one sentence", async () => {
    const answers: [string, (typeof fake.answers)[string], RegExp][] = [
      ["slow", () => {}, /did not answer in time/],
      ["huge", (response) => void response.end("x".repeat(600_000)), /too long/],
      [
        "redirect",
        (response) => void response.writeHead(302, { Location: "http://169.254.169.254/" }).end(),
        /redirect, which is not followed/,
      ],
      ["page", (response) => void response.end("<script>alert(1)</script>"), /no JSON object/],
      ["list", (response) => void response.end("[]"), /no JSON object/],
      ["error", (response) => void response.writeHead(500).end(), /status 500/],
    ];
    for (const [name, answer, sentence] of answers) {
      fake.answers[DISCOVERY] = answer;
      const began = performance.now();
      const { status, findings } = await checkOAuth();
      expect([name, status]).toEqual([name, 200]);
      expect([name, of(findings, "discovery")?.message]).toEqual([name, expect.stringMatching(sentence)]);
      expect(performance.now() - began).toBeLessThan(20_000);
    }
    const refused = await checkOAuth({ issuer: "http://127.0.0.1:1" });
    expect(of(refused.findings, "discovery")?.message).toMatch(/could not be reached/);
  });

  test("A344 at an address that a tenant chooses itself is not asked", async () => {
    const own = await adminOperator(runtime, (await runtime.tenants.byId(tenantId)) ?? undefined);
    const answer = await checkOAuth({}, "custom_fake", own, "");
    expect(answer.status).toBe(403);
    const answered = await own.call("POST", "/saml/provider_check", {
      settings: { name: "Near", domains: ["near.example"], metadata_url: near.metadataUrl },
    });
    expect(answered.status).toBe(403);
    expect(fake.asked).toEqual([]);
  });

  test("A344 at an address of the operator's is not asked for an administrator of the default tenant", async () => {
    const administrator = await consoleAccount(runtime, "administrator");
    const asking = { provider_id: "custom_fake", settings };
    const check = await administrator.call("checkOAuthProvider", { body: asking });
    expect(check.reason).toBe("forbidden");
    const begun = await administrator.call("beginOAuthProviderTest", { provider_id: "custom_fake" });
    expect(begun.reason).toBe("forbidden");
    const config = { third_party: { custom_providers: { fake: settings } } };
    const judged = await administrator.call("checkSettings", { body: { config } });
    expect(judged).toMatchObject({ status: 403, message: expect.stringContaining("set by the operator") });
    const own = await administrator.call("checkSettings", {
      body: { config: { password: { enabled: true } } },
    });
    expect(own.status).toBe(200);
    expect(fake.asked).toEqual([]);
  });

  test("A344 without TLS is not asked outside development", async () => {
    const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "x".repeat(32) });
    const { findings } = await checkOAuth({}, "custom_fake", await adminOperator(production), "");
    expect(of(findings, "discovery")).toMatchObject({
      outcome: "error",
      message: expect.stringContaining("no TLS"),
    });
    expect(fake.asked).toEqual([]);
  });

  test.each([
    "https://10.0.0.1/keys",
    "http://10.0.0.1/keys",
    "http://keys.example.com/",
    "https://10.0.0.1:22/keys",
    "https://user@10.0.0.1/keys",
    "https://0x0a.1/keys#a",
    " https://10.0.0.1/keys",
    `https://10.0.0.1/${"k".repeat(3000)}`,
    "https://id.example.com:8443@10.0.0.1/keys",
    "file:///etc/passwd",
  ])("A344 cannot make this service read keys in its own network, at %s", async (jwks_uri) => {
    const asked = await withNetwork(jwks_uri, async () => {
      const { findings } = await checkOAuth({ issuer: "https://id.example.com" });
      expect(of(findings, "keys")).toMatchObject({
        outcome: "error",
        message: expect.stringContaining("It was not read"),
      });
    });
    expect(asked).toEqual(["https://id.example.com/.well-known/openid-configuration"]);
  });

  test("A344 cannot make this service read keys at a name that leads into its network", async () => {
    const asked = await withNetwork("https://keys.example.com/", async () => {
      const { findings } = await checkOAuth({ issuer: "https://id.example.com" });
      expect(of(findings, "keys")).toMatchObject({
        outcome: "error",
        message: expect.stringContaining("leads to an address that is not public"),
      });
    });
    expect(asked).toEqual(["https://id.example.com/.well-known/openid-configuration"]);
  });

  test("whose keys are at the origin of its issuer is read there, as its document is", async () => {
    const asked = await withNetwork("https://id.example.com/keys", () =>
      checkOAuth({ issuer: "https://id.example.com" }),
    );
    expect(asked).toContain("https://id.example.com/keys");
  });
});

/** Answers requests by a discovery document; names lead to this machine. @returns the addresses that were asked without that */
async function withNetwork(jwks_uri: string, use: () => Promise<unknown>): Promise<string[]> {
  const network = providerNetwork(runtime);
  const { fetch, publicFetch } = network;
  const asked: string[] = [];
  network.fetch = async (url) => {
    asked.push(String(url));
    return Response.json({ issuer: "https://id.example.com", jwks_uri });
  };
  const resolver = { resolve4: async () => ["127.0.0.1"], resolve6: async () => [], cancel() {} };
  network.publicFetch = createPublicFetch({
    allowPrivate: false,
    resolver: resolver as unknown as NonNullable<LookupOptions["resolver"]>,
  });
  await use();
  Object.assign(network, { fetch, publicFetch });
  return asked;
}

describe("a SAML provider", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const subject = { CN: "identity provider" };
  const notAfter = new Date(Date.now() + 90 * 86_400_000);
  const certificate = pemOf(makeCertificate({ subject, key: privateKey, notAfter }));
  const provider = samlIdentityProvider({ key: { privateKey, certificate } });

  test("whose metadata is right has no fault, as text and at its address", async () => {
    const written = await checkSaml({ metadata: provider.metadata });
    expect(outcomes(written.findings)).toEqual({
      metadata: "ok",
      entity_id: "ok",
      certificates: "ok",
      signed_requests: "ok",
    });
    const fetched = await checkSaml({ metadata_url: near.metadataUrl, single_logout: true });
    expect(outcomes(fetched.findings)).toMatchObject({ metadata: "ok", logout: "ok", clock: "ok" });
  });

  test("that is not the expected one, has old certificates or wants signatures is told of", async () => {
    const other = await checkSaml({ metadata: provider.metadata, entity_id: "https://other.example" });
    expect(of(other.findings, "entity_id")?.outcome).toBe("error");
    const day = 86_400_000;
    const old = pemOf(
      makeCertificate({
        subject: { CN: "old" },
        key: privateKey,
        notBefore: new Date(Date.now() - 9 * day),
        notAfter: new Date(Date.now() - day),
      }),
    );
    const expired = providerMetadata("https://idp.example.org", "https://idp.example.org/sso", [old]);
    expect(of((await checkSaml({ metadata: expired })).findings, "certificates")).toMatchObject({
      outcome: "warning",
      message: expect.stringContaining("CN=old expired"),
    });
    const ended = provider.metadata.replace("entityID=", 'validUntil="2020-01-01T00:00:00Z" entityID=');
    expect(of((await checkSaml({ metadata: ended })).findings, "validity")?.outcome).toBe("error");
    const wanting = provider.metadata.replace(
      "<md:IDPSSODescriptor",
      '<md:IDPSSODescriptor WantAuthnRequestsSigned="true"',
    );
    await operator.call("PATCH", place, { config: { saml: { options: { sign_authn_requests: false } } } });
    expect(of((await checkSaml({ metadata: wanting })).findings, "signed_requests")?.outcome).toBe("error");
  });

  test("A345 whose metadata expands entities, is too large or is no metadata is refused in one sentence", async () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>`;
    const external = `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>`;
    for (const metadata of [bomb, external, "<x/>", "no metadata", "<".repeat(5_000)]) {
      const { status, findings } = await checkSaml({ metadata });
      expect(status).toBe(200);
      expect(findings).toMatchObject([{ check: "metadata", outcome: "error" }]);
      expect(JSON.stringify(findings)).not.toContain("root:");
    }
    const long = await checkSaml({ metadata: "x".repeat(200_001) });
    expect(long.status).toBe(413);
  });

  test("A346 of another tenant is not found", async () => {
    const settings = { name: "Theirs", domains: ["theirs.example"], metadata: provider.metadata };
    const made = await operator.call("POST", `${place}/saml/providers`, settings);
    const other = await createTenant(runtime, {
      name: "Other",
      hosts: [],
      settings: { saml: { enabled: true } },
    });
    const check = (id: string) =>
      operator.call("POST", `/tenants/${id}/saml/provider_check`, { provider_id: made.body.id });
    expect((await check(tenantId)).status).toBe(200);
    expect((await check(other.id)).status).toBe(404);
  });
});

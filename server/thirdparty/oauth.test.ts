import { randomUUID } from "node:crypto";
import { exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { type FakeProvider, json, startFakeProvider } from "../testing/fake-provider.ts";
import { startOidcProvider } from "../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { smallOrderPoints } from "../testing/small-order-points.ts";
import { takeThirdPartyRequest } from "./authorization-requests.ts";
import { completeAuthorization, startAuthorization } from "./oauth.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { providerNetwork } from "./provider-fetch.ts";
import { findProvider } from "./providers/index.ts";
import type { Provider } from "./providers/provider.ts";

const callback = "http://localhost:3000/thirdparty/callback";

const acme = await openForTests(startOidcProvider([callback]));
const fake = await openForTests(startFakeProvider("client"));
const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    ...JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? ""),
    fake: {
      display_name: "Fake",
      client_id: "client",
      secret: "s:e/cret",
      issuer: fake.issuer,
      prompt: "login",
    },
    plain: {
      display_name: "Plain",
      client_id: "client",
      secret: "secret",
      use_discovery: false,
      authorization_endpoint: `${fake.issuer}/authorize`,
      token_endpoint: `${fake.issuer}/token`,
      userinfo_endpoint: `${fake.issuer}/me`,
      scopes: ["who"],
      attribute_mapping: { subject: "data.id", email: "data.mail", name: "data.title" },
    },
    silent: {
      display_name: "Silent",
      client_id: "client",
      use_discovery: false,
      issuer: fake.issuer,
      authorization_endpoint: `${fake.issuer}/authorize`,
      token_endpoint: `${fake.issuer}/token`,
    },
    closed: { display_name: "Closed", client_id: "client", issuer: "http://127.0.0.1:9" },
  }),
});

/** The same with the shortest time limit. */
const withShortTimeout = runtime.configured({ STILE_THIRD_PARTY_TIMEOUT: "1" });
beforeEach(() => {
  fake.reset();
  for (const network of [providerNetwork(runtime), providerNetwork(withShortTimeout)]) {
    network.documents.clear();
    network.keys.clear();
    network.keyReadings.clear();
  }
});

function provider(id: string): Provider {
  const found = findProvider(runtime.config, id);
  if (!found) throw new Error(`${id} is not enabled`);
  return found;
}

/** Starts an authorization and takes its request, as the callback does. */
async function begin(id: string, startedBy = runtime) {
  const about = {
    flowId: randomUUID(),
    redirectTo: "http://localhost:3000/",
    privateState: { more: "kept" },
  };
  const { url, state, write } = await startAuthorization(requestContext(startedBy), provider(id), about);
  await runtime.database.write.transaction(write);
  const request = await takeThirdPartyRequest(runtime, runtime.tenant, state, new Date());
  if (!request) throw new Error("no request was stored");
  const { searchParams } = new URL(url);
  const finish = async (
    parameters: Record<string, string> = { code: "code" },
    finishedBy = runtime,
  ): Promise<ProviderFacts> => {
    const context = { runtime: finishedBy, tenant: finishedBy.tenant };
    const { facts } = await completeAuthorization(context, provider(id), {
      answer: new URLSearchParams({ state, ...parameters }),
      state,
      privateState: request.privateState,
    });
    return facts;
  };
  return { url: new URL(url), state, request, finish, nonce: searchParams.get("nonce") ?? "" };
}

/** @param keyword the reason, or the code of the library or of the provider that stands beside it */
const rejection = (keyword: string, code = "invalid_request") => {
  if (keyword.startsWith("oauth_")) return { code, reason: "answer_not_verified", detail: keyword };
  if (keyword === "invalid_grant") return { code, reason: "provider_refused", detail: keyword };
  return { code, reason: keyword, detail: undefined };
};

describe("a real OpenID Connect provider", () => {
  test("states the user's facts", async () => {
    acme.person("ada", {
      email: "Ada@Example.com",
      email_verified: true,
      name: "Ada Lovelace",
      given_name: "Ada",
      family_name: "Lovelace",
      picture: "https://pictures.example/ada.png",
    });
    const { url, finish, state } = await begin("custom_acme");
    const back = await acme.signIn(url.href, "ada");
    expect(back.origin + back.pathname).toBe(callback);
    expect(back.searchParams.get("state")).toBe(state);
    expect(await finish(Object.fromEntries(back.searchParams))).toEqual({
      provider: "custom_acme",
      subject: "ada",
      email: "ada@example.com",
      emailVerified: true,
      name: "Ada Lovelace",
      givenName: "Ada",
      familyName: "Lovelace",
      picture: "https://pictures.example/ada.png",
      satisfiesMfa: false,
      skipEmailVerification: false,
    });
  });

  test("rejects a code that was already redeemed", async () => {
    acme.person("bob");
    const { url, finish } = await begin("custom_acme");
    const back = await acme.signIn(url.href, "bob");
    const parameters = Object.fromEntries(back.searchParams);
    await finish(parameters);
    await expect(finish(parameters)).rejects.toMatchObject(rejection("invalid_grant"));
  });

  test("that changes its key signs in with the same answer, also several users at once", async () => {
    const back = async (name: string) => {
      acme.person(name);
      const { url, finish } = await begin("custom_acme");
      const parameters = Object.fromEntries((await acme.signIn(url.href, name)).searchParams);
      return () => finish(parameters);
    };
    await (await back("first"))();
    await acme.rotateKey();
    const [one, two] = [await back("one"), await back("two")];
    const before = acme.keyReadings();
    const facts = await Promise.all([one(), two()]);
    expect(facts.map(({ subject }) => subject)).toEqual(["one", "two"]);
    expect(acme.keyReadings()).toBe(before + 1);
    await (await back("three"))();
    expect(acme.keyReadings()).toBe(before + 1);
  });

  test("A47 rejects a code without its own verifier", async () => {
    acme.person("carol");
    const own = await begin("custom_acme");
    const other = await begin("custom_acme");
    const back = await acme.signIn(own.url.href, "carol");
    const stolen = { ...Object.fromEntries(back.searchParams), state: other.state };
    await expect(other.finish(stolen)).rejects.toMatchObject(rejection("invalid_grant"));
  });

  test("reports a cancelled sign-in without passing its description on", async () => {
    const { url, finish } = await begin("custom_acme");
    const back = await acme.signIn(url.href, null);
    expect(back.searchParams.get("error_description")).toContain("<b>");
    await expect(finish(Object.fromEntries(back.searchParams))).rejects.toMatchObject({
      ...rejection("access_denied", "access_denied"),
      message: "The provider did not let you in, or you turned back.",
    });
  });

  test("A48 announces iss, so an answer without it or with another is rejected", async () => {
    acme.person("dora");
    const { url, finish } = await begin("custom_acme");
    const back = await acme.signIn(url.href, "dora");
    const { iss, ...others } = Object.fromEntries(back.searchParams);
    expect(iss).toBe(acme.issuer);
    await expect(finish(others)).rejects.toMatchObject(rejection("oauth_invalid_response"));
    await expect(finish({ ...others, iss: "https://evil.example" })).rejects.toMatchObject(
      rejection("oauth_invalid_response"),
    );
  });
});

describe("an authorization request", () => {
  test("carries the parameters of the protocol and no secret", async () => {
    const { url, state, request } = await begin("custom_fake");
    expect(url.origin + url.pathname).toBe(`${fake.issuer}/authorize`);
    const { code_challenge, nonce, ...others } = Object.fromEntries(url.searchParams);
    expect(others).toEqual({
      client_id: "client",
      response_type: "code",
      redirect_uri: callback,
      scope: "openid email profile",
      state,
      code_challenge_method: "S256",
      prompt: "login",
    });
    expect(state).toMatch(/^[\w-]{43}$/);
    expect(code_challenge).toMatch(/^[\w-]{43}$/);
    expect(nonce).toBe(request.privateState.nonce);
    expect(url.href).not.toContain(request.privateState.codeVerifier);
    expect(request).toMatchObject({ provider: "custom_fake", privateState: { more: "kept" } });
  });

  test("is stored encrypted, under the hash of its state", async () => {
    const about = { flowId: randomUUID(), redirectTo: "http://localhost:3000/", privateState: {} };
    const { url, state, write } = await startAuthorization(
      requestContext(runtime),
      provider("custom_fake"),
      about,
    );
    await runtime.database.write.transaction(write);
    const rows = await runtime.database.read.select().from(schema.thirdPartyRequests);
    const row = rows.find(({ flowId }) => flowId === about.flowId);
    const stored = JSON.stringify(row) + row?.sealed.toString("latin1");
    expect(stored).not.toContain(state);
    expect(stored).not.toContain(new URL(url).searchParams.get("nonce"));
  });

  test("reuses the cached discovery document", async () => {
    await begin("custom_fake");
    await begin("custom_fake");
    expect(fake.asked.map(({ path }) => path)).toEqual(["/.well-known/openid-configuration"]);
  });
});

describe("the token request", () => {
  test("carries the verifier of the challenge, and authenticates by HTTP Basic", async () => {
    const { finish, request, nonce } = await begin("custom_fake");
    fake.claims = { nonce };
    await finish();
    const [asked] = fake.asked.filter(({ path }) => path === "/token");
    expect(Object.fromEntries(asked?.body ?? [])).toEqual({
      grant_type: "authorization_code",
      code: "code",
      redirect_uri: callback,
      code_verifier: request.privateState.codeVerifier,
    });
    const [, credentials = ""] = /^Basic (.+)$/.exec(asked?.authorization ?? "") ?? [];
    expect(Buffer.from(credentials, "base64").toString()).toBe("client:s%3Ae%2Fcret");
  });
});

describe("claims", () => {
  test("of the ID token take precedence over those of userinfo", async () => {
    const { finish, nonce } = await begin("custom_fake");
    fake.claims = { nonce, email: "signed@example.com" };
    fake.answers["/userinfo"] = (response) =>
      json(response, { sub: "subject", email: "other@example.com", email_verified: true, name: "Ada" });
    expect(await finish()).toMatchObject({ email: "signed@example.com", name: "Ada" });
  });

  test("A43 of userinfo do not verify an address that only the ID token states", async () => {
    const { finish, nonce } = await begin("custom_fake");
    fake.claims = { nonce, email: "victim@example.com" };
    fake.answers["/userinfo"] = (response) =>
      json(response, { sub: "subject", email: "other@example.com", email_verified: true });
    expect(await finish()).toMatchObject({ email: "victim@example.com", emailVerified: false });
  });

  test("of userinfo are rejected if they state another subject", async () => {
    const { finish, nonce } = await begin("custom_fake");
    fake.claims = { nonce };
    fake.answers["/userinfo"] = (response) => json(response, { sub: "other" });
    await expect(finish()).rejects.toMatchObject(rejection("oauth_json_attribute_comparison_failed"));
  });

  test("of a provider without OpenID Connect are mapped", async () => {
    const { finish, url } = await begin("custom_plain");
    expect(url.searchParams.get("scope")).toBe("who");
    expect(url.searchParams.has("nonce")).toBe(false);
    fake.answers["/token"] = (response) => json(response, { access_token: "access", token_type: "bearer" });
    fake.answers["/me"] = (response) =>
      json(response, { data: { id: 7, mail: "x@example.com", title: "X" } });
    expect(await finish()).toMatchObject({
      subject: "7",
      email: "x@example.com",
      emailVerified: false,
      name: "X",
    });
    expect(fake.asked.at(-1)).toMatchObject({ path: "/me", authorization: "Bearer access" });
  });

  test("of a provider without published keys are accepted from its token endpoint", async () => {
    const { finish, nonce } = await begin("custom_silent");
    fake.claims = { nonce };
    expect(await finish()).toMatchObject({ subject: "subject" });
    expect(fake.asked.map(({ path }) => path)).toEqual(["/token"]);
    expect(fake.asked[0]?.authorization).toBeUndefined();
    expect(fake.asked[0]?.body.get("client_id")).toBe("client");
  });
});

describe("A48 rejects an ID token", () => {
  const hour = 3600;
  const now = () => Math.floor(Date.now() / 1000);

  test.each<[string, (nonce: string) => Record<string, unknown>]>([
    ["for another audience", () => ({ aud: "other" })],
    ["for several audiences, without an authorized party", () => ({ aud: ["client", "other"] })],
    [
      "for several audiences, with another authorized party",
      () => ({ aud: ["client", "other"], azp: "other" }),
    ],
    ["with another authorized party", () => ({ azp: "other" })],
    ["of another issuer", () => ({ iss: "https://evil.example" })],
    ["without a subject", () => ({ sub: undefined })],
    ["with another nonce", () => ({ nonce: "other" })],
    ["without a nonce", () => ({ nonce: undefined })],
    ["that has expired", () => ({ iat: now() - 2 * hour, exp: now() - hour })],
    ["that is not yet valid", () => ({ nbf: now() + hour })],
    ["without an expiry", () => ({ exp: undefined })],
  ])("%s", async (_, claims) => {
    const { finish, nonce } = await begin("custom_fake");
    fake.claims = { nonce, ...claims(nonce) };
    await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
    fake.claims = { nonce };
    await expect(finish()).resolves.toMatchObject({ subject: "subject" });
  });

  const unsigned = (claims: object) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const all = { iss: fake.issuer, aud: "client", sub: "subject", iat: now(), exp: now() + hour, ...claims };
    return `${part({ alg: "none" })}.${part(all)}.`;
  };

  test("without a signature", async () => {
    const { finish, nonce } = await begin("custom_fake");
    fake.idToken = unsigned({ nonce });
    await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("without a signature, although the provider announces that algorithm", async () => {
    announce(["none", "HS256", "RS256"]);
    const { finish, nonce } = await begin("custom_fake");
    fake.idToken = unsigned({ nonce });
    await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("signed with the public key as a shared secret", async () => {
    announce(["HS256", "RS256"]);
    const { finish, nonce } = await begin("custom_fake");
    const publicKey = await importJWK(fake.publicJwk, "RS256", { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error("not a public key");
    const secret = new TextEncoder().encode(await exportSPKI(publicKey));
    fake.idToken = await new SignJWT({ iss: fake.issuer, aud: "client", sub: "subject", nonce })
      .setProtectedHeader({ alg: "HS256", kid: "honest" })
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(secret);
    await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("signed with the client secret instead of a key of the provider", async () => {
    announce(["HS256", "RS256"]);
    const { finish, nonce } = await begin("custom_fake");
    fake.idToken = await new SignJWT({ iss: fake.issuer, aud: "client", sub: "subject", nonce })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(new TextEncoder().encode("s:e/cret"));
    await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("signed with an unpublished key, regardless of its header", async () => {
    const { privateKey } = await generateKeyPair("RS256");
    for (const header of [{}, { kid: "unknown" }, { jku: "https://evil.example/jwks", kid: "evil" }]) {
      const { finish, nonce } = await begin("custom_fake");
      fake.idToken = await fake.sign({ nonce }, header, privateKey);
      await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
    }
  });

  test("A158 whose keys are read once in ten seconds, however many answers are forged", async () => {
    const { finish, nonce } = await begin("custom_fake");
    fake.idToken = await fake.sign({ nonce });
    await finish();
    const readings = () => fake.asked.filter(({ path }) => path === "/jwks").length;
    const { privateKey } = await generateKeyPair("RS256");
    const forge = async () => {
      for (const kid of ["default", "unknown"]) {
        const forged = await begin("custom_fake");
        fake.idToken = await fake.sign({ nonce: forged.nonce }, { kid }, privateKey);
        await expect(forged.finish()).rejects.toMatchObject({ code: "invalid_request" });
      }
    };
    expect(readings()).toBe(1);
    for (let times = 0; times < 3; times += 1) await forge();
    expect(readings()).toBe(2);
    const later = Date.now() + 10_001;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => later);
    await forge();
    clock.mockRestore();
    expect(readings()).toBe(3);
    // Each answer was exchanged once: a code is good for one request.
    expect(fake.asked.filter(({ path }) => path === "/token")).toHaveLength(9);
  });

  test.each(smallOrderPoints.map((point) => [point.toString("hex"), point]))(
    "A132 of a provider that publishes an Ed25519 key of small order: %s",
    async (_, point) => {
      announce(["EdDSA", "Ed25519", "RS256"]);
      const weak = { kty: "OKP", crv: "Ed25519", kid: "weak", alg: "EdDSA", x: point.toString("base64url") };
      fake.answers["/jwks"] = (response) => json(response, { keys: [fake.publicJwk, weak] });
      const { finish, nonce } = await begin("custom_fake");
      const [, claims] = unsigned({ nonce }).split(".");
      const head = Buffer.from(JSON.stringify({ alg: "EdDSA", kid: "weak" })).toString("base64url");
      // Verifies under the point of order 1, for any content.
      const forged = Buffer.concat([Buffer.of(1), Buffer.alloc(63)]).toString("base64url");
      fake.idToken = `${head}.${claims}.${forged}`;
      await expect(finish()).rejects.toMatchObject({ code: "invalid_request" });
      const honest = await begin("custom_fake");
      fake.idToken = undefined;
      fake.claims = { nonce: honest.nonce };
      await expect(honest.finish()).rejects.toMatchObject({ code: "invalid_request", reason: "weak_key" });
    },
  );

  function announce(algorithms: string[]): void {
    fake.answers["/.well-known/openid-configuration"] = (response) =>
      json(response, { ...metadata(), id_token_signing_alg_values_supported: algorithms });
  }
});

const metadata = () => ({
  issuer: fake.issuer,
  authorization_endpoint: `${fake.issuer}/authorize`,
  token_endpoint: `${fake.issuer}/token`,
  jwks_uri: `${fake.issuer}/jwks`,
});

describe("A49 rejects a provider that", () => {
  test.each<[string, Parameters<typeof json>[1] | FakeProvider["answers"][string], string]>([
    ["never answers", () => {}, "timeout"],
    ["answers slowly", answerSlowly, "timeout"],
    ["answers without end", answerEndlessly, "answer_too_long"],
    ["answers something other than JSON", (response) => response.end("<html>"), "oauth_response_is_not_json"],
    [
      "answers malformed JSON",
      (response) => response.writeHead(200, { "Content-Type": "application/json" }).end("{"),
      "oauth_parse_error",
    ],
    ["answers with status 500", (response) => json(response, {}, 500), "oauth_response_is_not_conform"],
    [
      "redirects the token request",
      (response) => response.writeHead(307, { Location: `${fake.issuer}/elsewhere` }).end(),
      "oauth_response_is_not_conform",
    ],
    ["closes the connection", (response) => response.destroy(), "unreachable"],
    ["answers with an error", (response) => json(response, { error: "invalid_grant" }, 400), "invalid_grant"],
    [
      "answers with an invalid error code",
      (response) => json(response, { error: "<b>" }, 400),
      "provider_refused",
    ],
    ["issues no tokens", (response) => json(response, { token_type: "bearer" }), "oauth_invalid_response"],
    [
      "issues no ID token",
      (response) => json(response, { access_token: "access", token_type: "bearer" }),
      "oauth_invalid_response",
    ],
    ["answers a list", (response) => json(response, []), "oauth_invalid_response"],
  ] as [string, FakeProvider["answers"][string], string][])("%s", async (_, answer, reason) => {
    const { finish } = await begin("custom_fake");
    fake.answers["/token"] = answer as FakeProvider["answers"][string];
    const finished = finish({ code: "code" }, reason === "timeout" ? withShortTimeout : runtime);
    await expect(finished).rejects.toMatchObject(rejection(reason));
    expect(fake.asked.map(({ path }) => path)).not.toContain("/elsewhere");
  });

  test.each<[string, string, string]>([
    ["/me", "without a subject", "no_subject"],
    ["/jwks", "with status 500", "oauth_response_is_not_conform"],
  ])("answers %s %s", async (path, _, reason) => {
    const { finish, nonce } = await begin(path === "/me" ? "custom_plain" : "custom_fake");
    fake.claims = { nonce };
    if (path === "/me") {
      fake.answers["/token"] = (response) => json(response, { access_token: "a", token_type: "bearer" });
      fake.answers["/me"] = (response) => json(response, { data: {} });
    } else fake.answers["/jwks"] = (response) => json(response, {}, 500);
    await expect(finish()).rejects.toMatchObject(rejection(reason));
  });

  test("answers requests to its API with an error or without JSON", async () => {
    for (const [answer, reason] of [
      [(response: Parameters<FakeProvider["answers"][string]>[0]) => json(response, {}, 403), "api_refused"],
      [(response: Parameters<FakeProvider["answers"][string]>[0]) => response.end("no"), "api_unreadable"],
    ] as const) {
      const { finish } = await begin("custom_plain");
      fake.answers["/token"] = (response) => json(response, { access_token: "a", token_type: "bearer" });
      fake.answers["/me"] = answer;
      await expect(finish()).rejects.toMatchObject(rejection(reason));
    }
  });

  test.each<[string, FakeProvider["answers"][string], string]>([
    ["never answers", () => {}, "timeout"],
    ["answers without end", answerEndlessly, "answer_too_long"],
    [
      "states another issuer",
      (response) => json(response, { ...metadata(), issuer: "https://evil.example" }),
      "oauth_json_attribute_comparison_failed",
    ],
    [
      "states no authorization endpoint",
      (response) => json(response, { issuer: fake.issuer }),
      "oauth_missing_server_metadata",
    ],
    [
      "states a script as its authorization endpoint",
      (response) => json(response, { ...metadata(), authorization_endpoint: "javascript:alert(1)//" }),
      "oauth_request_protocol_forbidden",
    ],
    ["answers with status 500", (response) => json(response, {}, 500), "oauth_response_is_not_conform"],
  ])("%s at discovery, and caches no failure", async (_, answer, reason) => {
    fake.answers["/.well-known/openid-configuration"] = answer;
    const startedBy = reason === "timeout" ? withShortTimeout : runtime;
    await expect(begin("custom_fake", startedBy)).rejects.toMatchObject(rejection(reason));
    fake.reset();
    await expect(begin("custom_fake", startedBy)).resolves.toBeDefined();
  });

  test("is unreachable", async () => {
    await expect(begin("custom_closed")).rejects.toMatchObject(rejection("unreachable"));
  });

  test("has no TLS in production", async () => {
    const production = { ...runtime.tenant, config: { ...runtime.config, mode: "production" as const } };
    const about = { flowId: randomUUID(), redirectTo: "http://localhost:3000/", privateState: {} };
    await expect(
      startAuthorization({ ...requestContext(runtime), tenant: production }, provider("custom_fake"), about),
    ).rejects.toMatchObject(rejection("oauth_http_request_forbidden"));
    expect(fake.asked).toEqual([]);
  });
});

function answerSlowly(response: Parameters<FakeProvider["answers"][string]>[0]): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  const timer = setInterval(() => response.write(" "), 50);
  response.once("close", () => clearInterval(timer));
}

function answerEndlessly(response: Parameters<FakeProvider["answers"][string]>[0]): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536)));
  };
  response.on("drain", more);
  more();
}

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, exportJWK, generateKeyPair } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificate, pemOf } from "../lib/certificates.ts";
import { type FlowClient, flowClient, type State } from "../testing/flow-client.ts";
import { openidApplication, visit } from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

/** Clients that describe themselves, from outside: the built server, a host of documents, and `openid-client`. */

const resource = "https://api.example.com/mcp";
const initialToken = "an-initial-access-token-that-is-long-enough";
const password = "correct horse battery staple";
const loopback = "http://127.0.0.1:4711/callback";
const web = "https://agent.example.org/callback";

let smtp: SmtpCatcher;
let host: WebhookReceiver;
let server: RunningServer;
let folder: string;
let accounts = 0;

/** What the host of documents answers, by path. */
const documents = new Map<
  string,
  { status?: number; body?: object | string; headers?: Record<string, string> }
>();
const read = new Map<string, number>();

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const cert = pemOf(makeCertificate({ subject: { CN: "localhost" }, key: privateKey }));
  host = await startReceiver({
    tls: { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert },
  });
  host.answer = (response, { path }) => {
    read.set(path, (read.get(path) ?? 0) + 1);
    const { status = 200, body = {}, headers = {} } = documents.get(path) ?? { status: 404 };
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body));
  };
  folder = mkdtempSync(join(tmpdir(), "stile-documents-"));
  const certificate = join(folder, "host.pem");
  writeFileSync(certificate, cert);
  smtp = await startSmtp();
  server = await startServer({
    env: {
      NODE_EXTRA_CA_CERTS: certificate,
      SMTP_URL: smtp.url,
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_DOCUMENT_HOSTS: "localhost",
      STILE_OPENID_ALLOW_PRIVATE_TARGETS: "true",
      STILE_OPENID_REGISTRATION: "token",
      STILE_OPENID_REGISTRATION_TOKENS: initialToken,
      STILE_OPENID_RESOURCES: JSON.stringify({ [resource]: { scopes: ["tools:use", "tools:admin"] } }),
      STILE_OPENID_UNLISTED_SCOPES: "openid,email,offline_access,tools:use",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
});
afterAll(async () => {
  await Promise.all([server.stop(), smtp.close(), host.close()]);
  rmSync(folder, { recursive: true });
});

/** Puts a document at the host. @returns its address, which is the client's id */
function describedBy(metadata: object, headers?: Record<string, string>): string {
  const path = `/${randomUUID()}.json`;
  const client_id = `https://localhost:${host.port}${path}`;
  const body = { client_id, client_name: "An agent", token_endpoint_auth_method: "none", ...metadata };
  documents.set(path, { body, ...(headers ? { headers } : {}) });
  return client_id;
}

const pathOf = (clientId: string) => new URL(clientId).pathname;

async function newVisitor(): Promise<FlowClient & { email: string }> {
  const email = `ada-${++accounts}@example.com`;
  const browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email });
  await browser.act("verify_passcode", { code: await smtp.codeFor(email) });
  await browser.act("register_password", { new_password: password });
  return Object.assign(browser, { email });
}

/** Sends a browser to a client's request. */
async function ask(
  browser: FlowClient,
  clientId: string,
  parameters: Record<string, string> = {},
  more = {},
) {
  const application = await openidApplication(server.url, { clientId, ...more });
  const { url, checks } = await application.request({
    redirect_uri: web,
    scope: "openid email",
    ...parameters,
  });
  const response = await browser.request(`${url.pathname}${url.search}`);
  const page = response.headers.get("location");
  return { application, checks, response, page: page === null ? null : new URL(page) };
}

/** Begins the flow that asks the user. */
async function question(browser: FlowClient, page: URL | null): Promise<State> {
  expect(page?.pathname).toBe("/consent");
  const request = page?.searchParams.get("request") ?? "";
  const response = await browser.request(`/consent?request=${request}`, { method: "POST" });
  const state = (await response.json()) as State;
  browser.adopt(state);
  return state;
}

async function allow(browser: FlowClient, page: URL | null): Promise<URL> {
  await question(browser, page);
  const { state } = await browser.act("consent_allow");
  expect(state.name).toBe("consent_answered");
  return visit(browser, new URL(String(state.payload.redirect_url)));
}

const errorOf = async (response: Response) => (await response.json()) as { error?: string };

const register = (metadata: unknown, token: string | null = initialToken) =>
  fetch(`${server.url}/oauth/register`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof metadata === "string" ? metadata : JSON.stringify(metadata),
  });

test("the metadata says that documents are read and where applications register", async () => {
  const answer = await fetch(`${server.url}/.well-known/oauth-authorization-server`);
  expect(await answer.json()).toMatchObject({
    client_id_metadata_document_supported: true,
    registration_endpoint: `${server.url}/oauth/register`,
  });
});

describe("a client that is described by a document", () => {
  test("gets tokens for an API once its user has allowed it", async () => {
    const clientId = describedBy({
      redirect_uris: [web],
      grant_types: ["authorization_code", "refresh_token"],
    });
    const browser = await newVisitor();
    const asked = { scope: "openid email tools:use", resource };
    const { application, checks, page } = await ask(browser, clientId, asked);
    const returned = await allow(browser, page);
    const tokens = await openid.authorizationCodeGrant(application.config, returned, checks, { resource });
    expect(tokens.scope).toBe("tools:use");
    const renewed = await openid.refreshTokenGrant(application.config, tokens.refresh_token ?? "", {
      resource,
    });
    expect(renewed.access_token).not.toBe(tokens.access_token);
    expect(read.get(pathOf(clientId))).toBe(1);
  });

  test("is shown with what it says of itself, the host that says it, and that it is not verified", async () => {
    const clientId = describedBy({
      client_name: "An agent\u202e\u0007 of ours",
      client_uri: `https://localhost:${host.port}/about`,
      policy_uri: "javascript:alert(1)",
      tos_uri: "https://evil.example/terms",
      logo_uri: "https://agent.example.org/logo.png",
      redirect_uris: [web],
    });
    const browser = await newVisitor();
    const { page } = await ask(browser, clientId);
    expect(await question(browser, page)).toMatchObject({
      payload: {
        authorization: {
          client: {
            id: clientId,
            name: "An agent of ours",
            uri: `https://localhost:${host.port}/about`,
            origin: "document",
          },
          host: "agent.example.org",
          lifetime: 90 * 86_400,
        },
      },
    });
    const { authorization } = browser.state.payload as { authorization: { client: object } };
    expect(Object.keys(authorization.client).toSorted()).toEqual(["id", "name", "origin", "uri"]);
  });

  test("is named on the account page, where its user ends its access", async () => {
    const clientId = describedBy({ redirect_uris: [web], client_name: "A named agent" });
    const browser = await newVisitor();
    const { page } = await ask(browser, clientId);
    await allow(browser, page);
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    expect(browser.state.payload.applications).toMatchObject([
      { id: clientId, name: "A named agent", scopes: ["openid", "email"] },
    ]);
    await browser.act("application_revoke", { application_id: clientId });
    expect((await ask(browser, clientId)).page?.pathname).toBe("/consent");
  });

  test("may listen at any port of the device, and its user is asked each time", async () => {
    const clientId = describedBy({ redirect_uris: [loopback] });
    const browser = await newVisitor();
    const redirect_uri = "http://127.0.0.1:50999/callback";
    const { page } = await ask(browser, clientId, { redirect_uri });
    expect((await question(browser, page)).payload).toMatchObject({ authorization: { host: "" } });
    expect((await allow(browser, page)).href).toMatch(/^http:\/\/127\.0\.0\.1:50999\/callback\?code=/);
    expect((await ask(browser, clientId, { redirect_uri })).page?.pathname).toBe("/consent");
  });

  test("on the device has its user choose the account and allow it, once each", async () => {
    const clientId = describedBy({ redirect_uris: [loopback] });
    const browser = await newVisitor();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { page } = await ask(browser, clientId, { redirect_uri: loopback, prompt: "select_account" });
    expect(page?.pathname).toBe("/login");
    await browser.start("login");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("continue_with_login_identifier", { email: browser.email });
    if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
    await browser.act("password_login", { password });
    const asked = await visit(browser, new URL(page?.searchParams.get("redirect_to") ?? ""));
    expect((await allow(browser, asked)).href).toMatch(/^http:\/\/127\.0\.0\.1:4711\/callback\?code=/);
  });

  test("authenticates by the keys that its document points to", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
    documents.set("/keys.json", { body: { keys: [jwk] } });
    const keys = { jwks_uri: `https://localhost:${host.port}/keys.json` };
    const clientId = describedBy({
      redirect_uris: [web],
      token_endpoint_auth_method: "private_key_jwt",
      ...keys,
    });
    const browser = await newVisitor();
    const { application, checks, page } = await ask(browser, clientId, {}, { privateKey });
    const returned = await allow(browser, page);
    const tokens = await openid.authorizationCodeGrant(application.config, returned, checks);
    expect(tokens.claims()?.aud).toBe(clientId);
    await expect(openid.tokenIntrospection(application.config, tokens.access_token)).resolves.toMatchObject({
      active: true,
    });
    expect(read.get("/keys.json")).toBe(1);
  });

  test("asks for no scope that such clients may not have", async () => {
    const clientId = describedBy({ redirect_uris: [web], scope: "openid phone tools:admin" });
    const browser = await newVisitor();
    const refused = await ask(browser, clientId, { scope: "openid phone" });
    expect(refused.page?.searchParams.get("error")).toBe("invalid_scope");
    const asked = { scope: "openid tools:use tools:admin", resource };
    const { application, checks, page } = await ask(browser, clientId, asked);
    const returned = await allow(browser, page);
    const tokens = await openid.authorizationCodeGrant(application.config, returned, checks, { resource });
    expect(tokens.scope).toBe("tools:use");
  });

  test("has its user asked for a token that names the user at an API, though it names no scope", async () => {
    const clientId = describedBy({ redirect_uris: [web] });
    const browser = await newVisitor();
    await allow(browser, (await ask(browser, clientId)).page);
    const { page } = await ask(browser, clientId, { resource });
    expect((await question(browser, page)).payload).toMatchObject({
      authorization: { resources: [{ address: resource, scopes: [] }] },
    });
    await allow(browser, page);
    expect((await ask(browser, clientId, { resource })).page?.searchParams.get("code")).toBeTruthy();
  });

  test("A240 adds no claims to its tokens by what it says of itself", async () => {
    const claims = { role: "admin", session_id: "x" };
    const said = { claims, access_token_claims: claims, first_party: true, redirect_uris: [web] };
    const clientId = describedBy(said);
    const browser = await newVisitor();
    const { application, checks, page } = await ask(browser, clientId, {
      scope: "openid tools:use",
      resource,
    });
    const returned = await allow(browser, page);
    const tokens = await openid.authorizationCodeGrant(application.config, returned, checks, { resource });
    for (const payload of [tokens.claims(), decodeJwt(tokens.access_token)])
      for (const name of Object.keys(claims)) expect(payload).not.toHaveProperty(name);
  });

  test("A223 is refused where its document moves, is another's, or has a fault", async () => {
    const browser = await newVisitor();
    const faults: [object, object?][] = [
      [{ client_id: "https://localhost/other.json" }],
      [{ redirect_uris: ["javascript:alert(1)"] }],
      [{ redirect_uris: ["http://agent.example.org/callback"] }],
      [{ redirect_uris: [] }],
      [{ redirect_uris: Array.from({ length: 21 }, (_, place) => `${web}/${place}`) }],
      [{ token_endpoint_auth_method: "client_secret_basic" }],
      [{ token_endpoint_auth_method: "private_key_jwt" }],
      [
        {
          client_secret: "a secret that every reader of the document has",
          token_endpoint_auth_method: undefined,
        },
      ],
      [{ response_types: ["token"] }],
      [{}, { status: 302, headers: { location: "/keys.json" } }],
      [{}, { status: 500 }],
      [{}, { body: "[]" }],
      [{}, { body: '{"client_id":1,"client_id":2}' }],
      [{}, { headers: { "content-type": "text/html" } }],
    ];
    const answers = [];
    for (const [metadata, answer] of faults) {
      const clientId = describedBy({ redirect_uris: [web], ...metadata });
      const path = pathOf(clientId);
      documents.set(path, { ...documents.get(path), ...answer });
      const { response, page } = await ask(browser, clientId);
      answers.push([response.status, page?.href ?? (await errorOf(response)).error]);
    }
    // The one with a secret has no use for it: it is a public client.
    expect(answers.map(([status]) => status)).toEqual(
      faults.map(([metadata]) => ("client_secret" in metadata ? 303 : 400)),
    );
  });

  test("A223 is refused at an address that is not one of the document's, and that of another spelling is another client", async () => {
    const clientId = describedBy({ redirect_uris: [web] });
    const browser = await newVisitor();
    const foreign = await ask(browser, clientId, { redirect_uri: "https://agent.example.org/callback/" });
    expect(foreign.response.status).toBe(400);
    for (const spelling of [
      clientId.replace("https://localhost", "https://LOCALHOST"),
      clientId.replace(`:${host.port}/`, `:${host.port}/x/../`),
      `${clientId}#fragment`,
      clientId.replace("https://", "https://user@"),
      clientId.replace("https://", "http://"),
      `https://localhost:${host.port}/`,
      `https://127.0.0.1:${host.port}/client.json`,
      `https://evil.example/${pathOf(clientId)}`,
    ])
      expect((await ask(browser, spelling)).response.status, spelling).toBe(400);
  });

  test("A223 gets no code at an address that its document has dropped, once that is read again", async () => {
    const clientId = describedBy({ redirect_uris: [web] });
    const browser = await newVisitor();
    await allow(browser, (await ask(browser, clientId)).page);
    const document = documents.get(pathOf(clientId));
    documents.set(pathOf(clientId), {
      body: { ...(document?.body as object), redirect_uris: ["https://evil.example/callback"] },
    });
    // What was read is taken for five minutes at least.
    const evil = await ask(browser, clientId, { redirect_uri: "https://evil.example/callback" });
    expect(evil.response.status).toBe(400);
    expect((await ask(browser, clientId)).page?.searchParams.get("code")).toBeTruthy();
  });
});

describe("an application that registers itself", () => {
  test("gets a secret, and tokens once its user has allowed it", async () => {
    const answer = await register({
      client_name: "A registered reader",
      redirect_uris: [web],
      grant_types: ["authorization_code", "refresh_token"],
      post_logout_redirect_uris: ["https://evil.example/"],
      subject_type: "pairwise",
    });
    const registered = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, registered]).toMatchObject([
      201,
      {
        client_id: expect.stringMatching(/^registered-[A-Za-z0-9_-]{22}$/),
        client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        client_secret_expires_at: 0,
        client_name: "A registered reader",
        redirect_uris: [web],
        token_endpoint_auth_method: "client_secret_basic",
        scope: "openid email offline_access",
        subject_type: "public",
      },
    ]);
    const clientId = String(registered.client_id);
    const secret = String(registered.client_secret);
    const browser = await newVisitor();
    const { application, checks, page } = await ask(browser, clientId, {}, { secret });
    expect((await question(browser, page)).payload).toMatchObject({
      authorization: { client: { name: "A registered reader", origin: "registration" } },
    });
    const returned = await allow(browser, page);
    const tokens = await openid.authorizationCodeGrant(application.config, returned, checks);
    expect(tokens.claims()?.aud).toBe(clientId);
    const other = await openidApplication(server.url, { clientId, secret: `${secret}x` });
    await expect(openid.refreshTokenGrant(other.config, tokens.refresh_token ?? "")).rejects.toThrow();
  });

  test("A224 needs an initial access token, and what it says is judged", async () => {
    const valid = { redirect_uris: [web] };
    expect((await register(valid, null)).status).toBe(401);
    const wrong = await register(valid, `${initialToken}x`);
    expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ]);
    for (const [metadata, error] of [
      [{}, "invalid_redirect_uri"],
      [{ redirect_uris: ["data:text/html,x"] }, "invalid_redirect_uri"],
      [{ redirect_uris: ["http://app.example.com/"] }, "invalid_redirect_uri"],
      [{ redirect_uris: [`https://app.example.com/${"x".repeat(2048)}`] }, "invalid_redirect_uri"],
      [{ ...valid, token_endpoint_auth_method: "client_secret_jwt" }, "invalid_client_metadata"],
      [{ ...valid, grant_types: ["client_credentials"] }, "invalid_client_metadata"],
      [
        {
          ...valid,
          token_endpoint_auth_method: "private_key_jwt",
          jwks: { keys: [{ kty: "oct", k: "AA" }] },
        },
        "invalid_client_metadata",
      ],
      [
        { redirect_uris: Array.from({ length: 10 }, () => `${web}/${"x".repeat(1000)}`) },
        "invalid_client_metadata",
      ],
      ["[]", "invalid_client_metadata"],
      ["{", "invalid_client_metadata"],
    ] as const) {
      const answer = await register(metadata);
      expect([answer.status, (await errorOf(answer)).error], JSON.stringify(metadata)).toEqual([400, error]);
    }
    expect((await register({ ...valid, client_name: "x".repeat(70_000) })).status).toBe(413);
  });

  test("of an id that was never given is not known", async () => {
    const browser = await newVisitor();
    const { response } = await ask(browser, `registered-${"a".repeat(22)}`);
    expect(response.status).toBe(400);
  });
});

test("what such a client was allowed outlives a restart, and ends where the operator no longer takes such clients", async () => {
  const clientId = describedBy({
    redirect_uris: [web],
    grant_types: ["authorization_code", "refresh_token"],
  });
  const browser = await newVisitor();
  const { application, checks, page } = await ask(browser, clientId);
  const returned = await allow(browser, page);
  const tokens = await openid.authorizationCodeGrant(application.config, returned, checks);
  documents.delete(pathOf(clientId));
  await server.restart();
  expect((await ask(browser, clientId)).page?.searchParams.get("code")).toBeTruthy();
  expect(read.get(pathOf(clientId))).toBe(1);
  await server.restart({ STILE_OPENID_DOCUMENT_HOSTS: "", STILE_OPENID_REGISTRATION: "off" });
  expect((await ask(browser, clientId)).response.status).toBe(400);
  expect((await register({ redirect_uris: [web] })).status).toBe(404);
  await expect(openid.refreshTokenGrant(application.config, tokens.refresh_token ?? "")).rejects.toThrow();
});

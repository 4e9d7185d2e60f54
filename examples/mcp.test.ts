import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { auth, type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificate, pemOf } from "../server/lib/certificates.ts";
import { eventually } from "../server/testing/eventually.ts";
import { type FlowClient, flowClient, type State } from "../server/testing/flow-client.ts";
import { visit } from "../server/testing/openid-application.ts";
import { type Service, startService } from "../server/testing/service.ts";
import { startReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { applicationFolder } from "./application-folder.ts";

/** The example for agents, from discovery to a call of a tool, with the client of MCP's own SDK. */

const CALLBACK = "http://127.0.0.1:4711/callback";

let folder: string;
let service: Service;
let host: WebhookReceiver;
let example: ChildProcess;
let mcp: string;

/** The settings that the guide has its readers start Stile with. */
function settingsOfGuide(origin: string): Record<string, string> {
  const guide = readFileSync(join(import.meta.dirname, "mcp-server", "README.md"), "utf8");
  const settings = [...guide.matchAll(/^(STILE_OPENID_\w+)=('?)(.*?)\2 \\$/gm)];
  expect(settings).toHaveLength(5);
  return Object.fromEntries(
    settings.map(([, name = "", , value = ""]) => [name, value.replace("http://localhost:4000", origin)]),
  );
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const cert = pemOf(makeCertificate({ subject: { CN: "localhost" }, key: privateKey }));
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  host = await startReceiver({ tls: { key, cert } });
  host.answer = (response, { path }) => {
    const body = { client_id: `https://localhost:${host.port}${path}`, ...metadata };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  folder = await applicationFolder(["server"], ["@modelcontextprotocol/sdk", "express", "jose", "zod"]);
  writeFileSync(join(folder, "host.pem"), cert);
  cpSync(join(import.meta.dirname, "mcp-server"), join(folder, "mcp-server"), { recursive: true });
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  mcp = `${origin}/mcp`;
  service = await startService({
    ...settingsOfGuide(origin),
    NODE_EXTRA_CA_CERTS: join(folder, "host.pem"),
    STILE_OPENID_ALLOW_PRIVATE_TARGETS: "true",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
  });
  example = spawn(process.execPath, ["server.js"], {
    cwd: join(folder, "mcp-server"),
    stdio: "ignore",
    env: {
      NODE_ENV: "production",
      PATH: process.env.PATH ?? "",
      PORT: String(port),
      APP_URL: origin,
      STILE_URL: service.server.url,
    },
  });
  await eventually(() => fetch(`http://127.0.0.1:${port}/mcp`));
});
afterAll(async () => {
  example?.kill();
  await Promise.all([service?.close(), host?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const metadata: OAuthClientMetadata = {
  client_name: "An agent",
  redirect_uris: [CALLBACK],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

/** What an agent keeps of a server: by a document, or by registering. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = metadata;
  readonly clientMetadataUrl?: string;
  asked: URL | null = null;
  client: OAuthClientInformationMixed | undefined;
  kept: OAuthTokens | undefined;
  #verifier = "";

  constructor(documentAddress?: string) {
    if (documentAddress !== undefined) this.clientMetadataUrl = documentAddress;
  }
  clientInformation = () => this.client;
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }
  tokens = () => this.kept;
  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens;
  }
  invalidateCredentials(): void {
    this.kept = undefined;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
}

/** The browser of a new user, who is signed in. */
async function newUser(): Promise<FlowClient> {
  const browser = flowClient(service.server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
  await browser.act("register_password", { new_password: "nine otters under the bridge" });
  expect(browser.state.name).toBe("success");
  return browser;
}

/** The user allows what the agent asks for. @returns the question, and the code that the agent gets */
async function allow(browser: FlowClient, asked: URL | null): Promise<{ question: State; code: string }> {
  if (!asked) throw new Error("the agent has asked for nothing");
  const answer = await browser.request(`${asked.pathname}${asked.search}`);
  const page = new URL(answer.headers.get("location") ?? "");
  expect(page.pathname).toBe("/consent");
  const begun = await browser.request(`/consent${page.search}`, { method: "POST" });
  const question = (await begun.json()) as State;
  browser.adopt(question);
  const { state } = await browser.act("consent_allow");
  const returned = await visit(browser, new URL(String(state.payload.redirect_url)));
  return { question, code: returned.searchParams.get("code") ?? "" };
}

/** Connects an agent as a user. */
async function connect(browser: FlowClient, keeper: Keeper) {
  const first = new StreamableHTTPClientTransport(new URL(mcp), { authProvider: keeper });
  const client = () => new Client({ name: "agent", version: "1.0.0" });
  await expect(client().connect(first)).rejects.toThrow(UnauthorizedError);
  const { question, code } = await allow(browser, keeper.asked);
  await first.finishAuth(code);
  const connected = client();
  await connected.connect(new StreamableHTTPClientTransport(new URL(mcp), { authProvider: keeper }));
  return { client: connected, question };
}

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join();

describe.each([
  [
    "that is described by a document",
    () => new Keeper(`https://localhost:${host.port}/agent.json`),
    "document",
  ],
  ["that registers itself", () => new Keeper(), "registration"],
])("an agent %s", (_, make, origin) => {
  test("finds Stile, and calls the tools as the user who has allowed it", async () => {
    const keeper = make();
    const browser = await newUser();
    const { client, question } = await connect(browser, keeper);
    expect(question.payload).toMatchObject({
      authorization: {
        client: { name: "An agent", origin },
        host: "",
        resources: [{ address: mcp, scopes: ["notes:read", "notes:write"] }],
      },
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["list_notes", "add_note"]);
    await client.callTool({ name: "add_note", arguments: { note: "Buy milk" } });
    expect(textOf(await client.callTool({ name: "list_notes", arguments: {} }))).toBe("Buy milk");
    const other = await connect(await newUser(), make());
    expect(textOf(await other.client.callTool({ name: "list_notes", arguments: {} }))).toBe(
      "There are none.",
    );
    await Promise.all([client.close(), other.client.close()]);
  });

  test("renews its token, until the user ends its access", async () => {
    const keeper = make();
    const browser = await newUser();
    const { client } = await connect(browser, keeper);
    const before = keeper.kept?.access_token;
    expect(await auth(keeper, { serverUrl: mcp })).toBe("AUTHORIZED");
    expect(keeper.kept?.access_token).not.toBe(before);
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    const { applications } = browser.state.payload as { applications: { id: string }[] };
    await browser.act("application_revoke", { application_id: applications[0]?.id });
    expect(await auth(keeper, { serverUrl: mcp })).toBe("REDIRECT");
    await client.close();
  });
});

const call = (token: string | null, name = "list_notes") =>
  fetch(mcp, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } }),
  });

test("without a token a call is answered with where to get one, and without its scope with that", async () => {
  const asked = await call(null);
  const metadataUrl = mcp.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
  expect([asked.status, asked.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer scope="notes:read", resource_metadata="${metadataUrl}"`,
  ]);
  expect(await (await fetch(metadataUrl)).json()).toMatchObject({
    resource: mcp,
    authorization_servers: [service.server.url],
  });
  const keeper = new Keeper();
  const browser = await newUser();
  const scope = "notes:read";
  expect(await auth(keeper, { serverUrl: mcp, scope })).toBe("REDIRECT");
  const { code } = await allow(browser, keeper.asked);
  expect(await auth(keeper, { serverUrl: mcp, authorizationCode: code })).toBe("AUTHORIZED");
  const token = keeper.kept?.access_token ?? "";
  expect((await call(token)).status).toBe(200);
  const narrow = await call(token, "add_note");
  expect([narrow.status, narrow.headers.get("www-authenticate")]).toEqual([
    403,
    expect.stringContaining('error="insufficient_scope"'),
  ]);
});

test("A225 a token for another server of the same provider is refused", async () => {
  const keeper = new Keeper();
  expect(await auth(keeper, { serverUrl: mcp })).toBe("REDIRECT");
  const asked = new URL(keeper.asked ?? "");
  asked.searchParams.delete("resource");
  asked.searchParams.set("scope", "openid");
  const { code } = await allow(await newUser(), asked);
  const answer = await fetch(`${service.server.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: keeper.codeVerifier(),
      client_id: keeper.client?.client_id ?? "",
    }),
  });
  const { access_token = "" } = (await answer.json()) as { access_token?: string };
  expect(access_token).not.toBe("");
  expect((await call(access_token)).status).toBe(401);
});

import { createHash, randomUUID } from "node:crypto";
import * as openid from "openid-client";
import { inject } from "vitest";
import { merge, type Tree } from "../server/lib/tree.ts";
import { eventually } from "../server/testing/eventually.ts";
import { type FlowClient, flowClient, type State } from "../server/testing/flow-client.ts";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { openidApplication, REDIRECT_URI, visit } from "../server/testing/openid-application.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { runStile } from "../server/testing/stile.ts";
import { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";
import { startReceiver } from "../server/testing/webhook-receiver.ts";
import { fencedBlocks } from "./fenced-blocks.ts";
import { readerServer } from "./reader-server.ts";

/** What the pages take for granted: a server with a tenant, an account that has signed in, keys and applications. */
export type DocumentedService = Awaited<ReturnType<typeof documentedService>>;

const email = "ada@example.com";
const password = "correct horse battery";

/** The clients and APIs of the page of the OpenID provider, and further clients that pages speak of. */
function openidSettings(): Tree {
  const stated = fencedBlocks("docs/openid.md", "json").map(({ text }) => JSON.parse(text) as Tree);
  const clients = {
    cli: { name: "A terminal", grants: ["device_code"], scopes: ["openid", "email"] },
    application: { name: "An application", redirect_uris: [REDIRECT_URI], scopes: ["openid", "stock:read"] },
  };
  return [...stated, { openid: { clients } }].reduce(merge, {});
}

/** Opens it for the tests of one file. */
export async function documentedService() {
  const config = openidSettings();
  const { folder, database, server } = await readerServer(config, { STILE_RATE_LIMITER_ENABLED: "false" });
  const receiver = await openForTests(startReceiver());
  const { url, environment } = server;

  async function stile(...words: string[]): Promise<string> {
    const { code, out, err } = await runStile(words, { cwd: folder, env: environment });
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  const key = await stile("keys", "create", "--interface", "admin");
  const call = async (
    address: string,
    method: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await fetch(url + address, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${text}`);
    return JSON.parse(text || "null");
  };
  const admin = (method: string, path: string, body?: unknown) => call(`/admin/${path}`, method, body);

  const { id: user } = await admin("POST", "users", {
    emails: [{ address: email, is_primary: true, is_verified: true }],
  });
  await admin("POST", `users/${user}/password`, { password });

  /** Waits for the code that was mailed to an address. */
  const mailedCode = (address: string) =>
    eventually(async () => {
      const mails = await call("/dev/mailbox", "GET", undefined, { accept: "application/json" });
      const { text } = mails.find(({ to }: { to: string }) => to.includes(address));
      return String(/\d{6}/.exec(text)?.[0]);
    });

  /** Signs the user in. @param verifier of a code that the application receives in place of a session */
  async function browserOf(verifier?: string): Promise<FlowClient> {
    const client = flowClient(url);
    const challenge = verifier && createHash("sha256").update(verifier).digest("base64url");
    const started = await client.request(`/login${challenge ? `?code_challenge=${challenge}` : ""}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ capabilities: {} }),
    });
    client.adopt((await started.json()) as State);
    await client.act("continue_with_login_identifier", { email });
    await client.act("continue_to_password_login");
    await client.act("password_login", { password });
    while (client.state.actions.skip) await client.act("skip");
    if (client.state.name !== "success") throw new Error(`the sign-in ended at ${client.state.name}`);
    return client;
  }

  await browserOf();
  const [flow] = await eventually(async () => {
    const flows = await admin("GET", `flows?user_id=${user}&outcome=completed`);
    if (flows.length === 0) throw new Error("the sign-in is not recorded");
    return flows;
  });

  const { adminUrl, ownerUrl } = inject("postgres");
  const empty = `empty_${randomUUID().replaceAll("-", "")}`;
  await withClient(adminUrl, (client) => client.query(`create database ${empty} owner stile`));

  return {
    url,
    environment,
    folder,
    config: config as { openid: { clients: Record<"orders", { secret: string }> } },
    key,
    tenant: String((await admin("POST", "tenants", { name: "A tenant" })).id),
    defaultTenant: String((await admin("GET", "tenant")).id),
    /** The recorded sign-in of the user. */
    flowId: String(flow.id),
    supportNumber: String(flow.support_number),
    /** The origin of a receiver of webhooks. */
    receiver: new URL(receiver.url).origin,
    /** Address of the database for a role that may do everything. */
    asAdministrator: adminUrl.replace(/[^/]+$/, new URL(database.url).pathname.slice(1)),
    /** Address of a database without tables. */
    emptyDatabase: ownerUrl.replace(/[^/]+$/, empty),

    /** What the user types into a dialogue of `stile login`, or a new user who registers. */
    async *typed(words: readonly string[]): AsyncGenerator<string> {
      if (!words.includes("registration")) return yield `${email}\n1\n${password}\n`;
      const address = `${randomUUID()}@example.com`;
      yield `${address}\n`;
      yield `${await mailedCode(address)}\n${password}\n`;
    },

    /** Allows a device what it asks for, in the browser of the user. */
    async allowDevice(code: string): Promise<void> {
      const browser = await browserOf();
      browser.adopt((await (await browser.request("/consent", { method: "POST" })).json()) as State);
      await browser.act("device_code_verify", { user_code: code });
      await browser.act("consent_allow");
    },

    /** Begins a session of the user, of which webhooks and the audit log are told. */
    causeEvent: () => admin("POST", "sessions", { user_id: user }),

    /** Signs the user in; returns a code for the verifier, and the token of another session. */
    async signIn(verifier: string) {
      const { state } = await browserOf(verifier);
      const { session_token } = await admin("POST", "sessions", { user_id: user });
      return { code: String(state.payload.authorization_code), token: String(session_token) };
    },

    /** Issues an access token of the user for an API. */
    async accessToken(resource: string, scope: string): Promise<string> {
      const application = await openidApplication(url, { clientId: "application" });
      const { url: address, checks } = await application.request({ scope, resource });
      const returned = await visit(await browserOf(), address);
      const tokens = await openid.authorizationCodeGrant(application.config, returned, checks, { resource });
      return tokens.access_token;
    },

    /** Signs a transaction at the passkey server of the default tenant. */
    async receipt(): Promise<string> {
      const { id: tenant } = await admin("GET", "tenant");
      const apikey = await stile("keys", "create", "--interface", "passkeys");
      const post = (path: string, body: unknown) =>
        call(`/passkeys/${tenant}${path}`, "POST", body, { apikey });
      const authenticator = softwareAuthenticator();
      const at = { origin: url };
      const creation = await post("/registration/initialize", { user_id: "ada", username: "ada" });
      await post("/registration/finalize", authenticator.create(creation, at));
      const transaction = { user_id: "ada", transaction_id: "order-1", transaction_data: { amount: "1.00" } };
      const request = await post("/transaction/initialize", transaction);
      return (await post("/transaction/finalize", authenticator.get(request, at))).receipt;
    },
  };
}

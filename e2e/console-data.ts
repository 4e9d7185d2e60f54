import { flowClient } from "../server/testing/flow-client.ts";
import { openidApplication, REDIRECT_URI, registeredBrowser } from "../server/testing/openid-application.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { consoleSettings } from "./console.ts";
import { stile } from "./stile.ts";

/** A server with something on every page of the console. */

/** Settings of a server that `fillConsole` fills. */
export const filledSettings = {
  ...consoleSettings,
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_REGISTRATION: "open",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: {
      name: "The corner shop",
      redirect_uris: [REDIRECT_URI],
      backchannel_logout_uri: "https://shop.invalid/logout",
    },
    notes: { name: "Notes", redirect_uris: ["https://notes.example/return"], first_party: false },
  }),
};

/** Calls the administration interface. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** Calls the administration interface of the default tenant, with a new key. */
export async function adminCall(server: RunningServer): Promise<Call> {
  const key = await stile(server, ["keys", "create", "--interface", "admin", "--name", "pictures"]);
  return async (method, path, body) => {
    const answer = await fetch(`${server.url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
}

const people = ["ada", "grace", "edith", "joan", "katherine", "mary", "radia", "sophie", "barbara", "hedy"];

/** A file of users, of which three records are refused. */
export function fileOfUsers(names: readonly string[]): string {
  const user = (name: string) => ({
    emails: [{ address: `${name}@example.com`, is_primary: true, is_verified: true }],
    name: `${name[0]?.toUpperCase()}${name.slice(1)}`,
  });
  const first = names[0] ?? "ada";
  return [
    ...names.map((name) => JSON.stringify(user(name))),
    JSON.stringify({ ...user(first), id: "auth0|5f7c8ec7c33c6c004bbafe82" }),
    JSON.stringify(user(first)),
    "{broken",
    "",
  ].join("\n");
}

/** Sends a file of users and has it checked or imported, to its end. */
async function importFile(call: Call, text: string, steps: readonly ("check" | "import")[]): Promise<string> {
  const { id } = await call("POST", "/imports", { format: "stile" });
  await call("PUT", `/imports/${id}/pieces/1`, { data: text });
  for (const step of steps) {
    await call("POST", `/imports/${id}/start`, { pieces: 1, check: step === "check" });
    for (let waited = 0; waited < 60; waited += 1) {
      const { state } = await call("GET", `/imports/${id}`);
      if (state !== "waiting" && state !== "running") break;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  return String(id);
}

/** What the pages of details are about. */
export interface ConsoleThings {
  user: string;
  flow: string;
  webhook: string;
  application: string;
  imports: { checked: string; cutOff: string };
  /** A tenant whose settings can be changed, and what it has. */
  tenant: { id: string; application: string; provider: string; samlProvider: string };
}

/** Puts users, sign-ins, failures, webhooks, providers, applications, imports and changes of settings into a new server. */
export async function fillConsole(server: RunningServer): Promise<ConsoleThings> {
  const call = await adminCall(server);
  const webhook = await call("POST", "/webhooks", {
    callback: "https://receiver.invalid/events",
    events: ["user", "session"],
  });
  await call("POST", `/webhooks/${webhook.id}/test`);
  await importFile(call, fileOfUsers(people), ["check", "import"]);
  const checked = await importFile(call, fileOfUsers(people.map((name) => `${name}.b`)), ["check"]);
  const { id: cutOff } = await call("POST", "/imports", {});
  await call("PUT", `/imports/${cutOff}/pieces/1`, { data: "{}\n" });

  const email = "lovelace@example.com";
  const browser = await registeredBrowser(server, email);
  const shop = await openidApplication(server.url, { clientId: "shop" });
  await shop.signIn(browser);
  for (const identifier of [email, email, "unknown@example.com"]) await failToSignIn(server, identifier);
  await fetch(`${server.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Command line of Acme",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    }),
  });
  const [user] = (await call("GET", `/users?email=${email}`)) as unknown as { id: string }[];
  const [flow] = (await call("GET", "/flows?type=login")) as unknown as { id: string }[];
  await call("POST", `/users/${user?.id}/emails`, { address: "countess@example.com" });
  await call("PATCH", `/users/${user?.id}/metadata`, { public_metadata: { plan: "team" } });
  await call("POST", "/sessions", { user_id: user?.id });
  const [imported] = (await call("GET", "/users?email=ada@example.com")) as unknown as { id: string }[];
  await call("POST", `/users/${imported?.id}/recovery`);

  const tenant = await call("POST", "/tenants", {
    name: "Harbour",
    config: { openid: { enabled: true }, saml: { enabled: true } },
  });
  const of = `/tenants/${tenant.id}`;
  for (const [min_length, optional] of [
    [12, true],
    [14, false],
  ])
    await call("PATCH", of, { config: { password: { min_length }, mfa: { optional } } });
  const application = await call("POST", `${of}/openid/clients`, {
    id: "shop",
    settings: { name: "Harbour shop", redirect_uris: ["https://shop.example/return"] },
  });
  const provider = await call("POST", `${of}/oauth/providers`, {
    id: "custom_acme",
    settings: { display_name: "Acme", client_id: "stile", secret: "hush", issuer: "https://id.acme.example" },
  });
  const samlProvider = await call("POST", `${of}/saml/providers`, {
    name: "Acme staff",
    domain: "acme.example",
    metadata_url: "https://id.acme.example/metadata",
  });
  return {
    user: String(user?.id),
    flow: String(flow?.id),
    webhook: String(webhook.id),
    application: "shop",
    imports: { checked, cutOff: String(cutOff) },
    tenant: {
      id: String(tenant.id),
      application: String(application.id),
      provider: String(provider.id),
      samlProvider: String(samlProvider.id),
    },
  };
}

async function failToSignIn(server: RunningServer, identifier: string): Promise<void> {
  const client = flowClient(server.url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: identifier });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: "a wrong password" });
}

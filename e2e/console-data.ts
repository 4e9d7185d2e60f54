import { flowClient } from "../server/testing/flow-client.ts";
import { openidApplication, REDIRECT_URI, registeredBrowser } from "../server/testing/openid-application.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { consoleSettings } from "./console.ts";
import { countDays } from "./counted-days.ts";
import { stile } from "./stile.ts";

/** A server with something on every page of the console. */

/** The id of the default tenant. */
const DEFAULT_TENANT = "00000000-0000-4000-8000-000000000001";

/** The address of the administrator of the other tenant. */
const HARBOUR_MASTER = "master@harbour.example";

/** Settings of a server that `fillConsole` fills. */
export const filledSettings = {
  ...consoleSettings,
  STILE_RATE_LIMITER_ENABLED: "false",
  STILE_EMAIL_REQUIRE_VERIFICATION: "false",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  STILE_PHONE_ALLOWED_COUNTRIES: "CH",
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

/**
 * Calls the administration interface of a tenant, with a new key.
 *
 * @param tenant its id; default: the default tenant
 */
export async function adminCall(server: RunningServer, tenant = DEFAULT_TENANT): Promise<Call> {
  const named = ["--name", "pictures", "--tenant", tenant];
  const key = await stile(server, ["keys", "create", "--interface", "admin", ...named]);
  const base = tenant === DEFAULT_TENANT ? server.url : `${server.url}/t/${tenant}`;
  return async (method, path, body) => {
    const answer = await fetch(`${base}/admin${path}`, {
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
  /** Has something of each kind that an account can have. */
  user: string;
  /** An account with a role of the console. */
  colleague: string;
  flow: string;
  webhook: string;
  application: string;
  /** The id of an application that describes itself. */
  unlisted: string;
  imports: { checked: string; cutOff: string };
  /** A tenant whose settings can be changed, and what it has. */
  tenant: {
    id: string;
    application: string;
    provider: string;
    samlProvider: string;
    /** The mail domain of its administrator, who could not sign in if a SAML provider had it. */
    domain: string;
    /** Changes a setting, as another operator. */
    changeMeanwhile(): Promise<unknown>;
  };
}

const TRY_AGAIN_MS = 100;
const MAX_TRIES = 100;

/** Writes browsers that are trusted by a user who has a second factor. */
const trustBrowsers = (database: string, user: unknown) =>
  withClient(database, (client) =>
    client.query(
      `insert into trusted_devices (tenant_id, id, user_id, token_hash, user_agent, created_at, expires_at)
       select $1, gen_random_uuid(), $2::uuid, sha256(convert_to($2::text || browser, 'UTF8')), browser, now(), now() + interval '30 days'
       from unnest(array['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'curl/8.9']) as browser`,
      [DEFAULT_TENANT, user],
    ),
  );

/**
 * Puts users, sign-ins, failures, webhooks, providers, applications, imports, counts and changes of settings into a new server.
 *
 * @param database the address of its database
 */
export async function fillConsole(server: RunningServer, database: string): Promise<ConsoleThings> {
  await countDays(database, DEFAULT_TENANT);
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
  const registered = await fetch(`${server.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Command line of Acme",
      redirect_uris: ["http://127.0.0.1/callback"],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id: unlisted } = (await registered.json()) as { client_id: string };
  const userOf = async (address: string) => {
    const [found] = (await call("GET", `/users?email=${address}`)) as unknown as { id: string }[];
    return found?.id ?? "";
  };
  const user = await userOf(email);
  const flow = await rejectedFlow(call, user);
  await call("POST", `/users/${user}/emails`, { address: "countess@example.com" });
  await call("PUT", `/users/${user}/username`, { username: "ada_lovelace" });
  await call("PUT", `/users/${user}/phone_number`, { phone_number: "+41791234567" });
  await call("PATCH", `/users/${user}/metadata`, { public_metadata: { plan: "team" } });
  await call("POST", "/sessions", { user_id: user });
  await trustBrowsers(database, user);
  await call("POST", `/users/${await userOf("ada@example.com")}/recovery`);
  const colleague = await userOf("grace@example.com");
  await stile(server, ["console", "grant", "grace@example.com", "auditor"]);

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
  const tenantId = String(tenant.id);
  const [, domain = ""] = HARBOUR_MASTER.split("@");
  const master = { address: HARBOUR_MASTER, is_primary: true, is_verified: true };
  await adminCall(server, tenantId).then((ofTenant) => ofTenant("POST", "/users", { emails: [master] }));
  await stile(server, ["console", "grant", HARBOUR_MASTER, "administrator", "--tenant", tenantId]);
  let recovers = false;
  return {
    user,
    colleague,
    flow,
    webhook: String(webhook.id),
    application: "shop",
    unlisted,
    imports: { checked, cutOff: String(cutOff) },
    tenant: {
      id: tenantId,
      application: String(application.id),
      provider: String(provider.id),
      samlProvider: String(samlProvider.id),
      domain,
      changeMeanwhile() {
        recovers = !recovers;
        return call("PATCH", of, { config: { password: { recovery: recovers } } });
      },
    },
  };
}

/** Finds a sign-in of a user that was rejected. Steps are written a moment after they were made. */
async function rejectedFlow(call: Call, user: string): Promise<string> {
  const path = `/flows?${new URLSearchParams({ type: "login", outcome: "rejected", user_id: user })}`;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [flow] = (await call("GET", path)) as unknown as { id: string }[];
    if (flow) return flow.id;
    await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
  }
  throw new Error("The rejected sign-in is not recorded.");
}

async function failToSignIn(server: RunningServer, identifier: string): Promise<void> {
  const client = flowClient(server.url);
  await client.start("login");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("continue_with_login_identifier", { email: identifier });
  await client.act("continue_to_password_login");
  await client.act("password_login", { password: "a wrong password" });
}

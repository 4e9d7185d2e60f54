import { createHash, randomBytes, randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../server/testing/eventually.ts";
import { flowClient, type State } from "../server/testing/flow-client.ts";
import {
  formerRelease,
  runFormerCli,
  settingsOfFormerRelease,
  startFormerRelease,
} from "../server/testing/former-release.ts";
import { allJourneys } from "../server/testing/journeys/index.ts";
import {
  atState,
  begin,
  complete,
  type Fixtures,
  type Journey,
  keepWaiting,
  newPerson,
  type Walk,
} from "../server/testing/journeys/journey.ts";
import { byPassword, chooseUsername, login } from "../server/testing/journeys/logins.ts";
import { createTotp, password, registered, registration } from "../server/testing/journeys/registrations.ts";
import { answerTotp } from "../server/testing/journeys/second-factor-logins.ts";
import { startProviders } from "../server/testing/journeys/settings.ts";
import { jpegPicture } from "../server/testing/jpeg-pictures.ts";
import { startTestCluster, withClient } from "../server/testing/postgres-cluster.ts";
import { readPng } from "../server/testing/qr-reading.ts";
import {
  type RecordedWalk,
  type Recording,
  recordCookies,
  recordCredentials,
  recordingFolder,
  recordPerson,
  recordUafKeys,
  recordWalk,
} from "../server/testing/recording.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { dumpDatabase } from "../server/testing/sql-dump.ts";
import { createUafAuthenticator } from "../server/testing/uaf-authenticator/authenticator.ts";
import { callAt } from "../server/testing/uaf-service.ts";
import { linkOf, requests } from "../server/testing/uaf-walk.ts";
import { softwareAuthenticator } from "../server/testing/webauthn-authenticator.ts";

/**
 * `npm run record:former`: fills a database by servers of the former release, with the `stile.config.json` of its folder
 * `server/testing/release-…`, and writes it there, with what its users hold. `data-of-former-release.test.ts` restores it.
 */

const target = recordingFolder(formerRelease.version.replace(/\.\d+$/, ""));

const config = readFileSync(join(target, "stile.config.json"), "utf8");
const settings = JSON.parse(config) as Record<string, unknown> & { base_url: string; tenant: { id: string } };
const origin = settings.base_url;

const folder = mkdtempSync(join(tmpdir(), "stile recording "));
copyFileSync(join(target, "stile.config.json"), join(folder, "stile.config.json"));
const { cluster, stop } = await startTestCluster();
try {
  await record();
} finally {
  await stop();
  rmSync(folder, { recursive: true, force: true });
}

async function record(): Promise<void> {
  const missing = await unsetSections();
  if (missing.length > 0) throw new Error(`stile.config.json sets nothing of ${missing.join(", ")}`);
  const databaseUrl = await emptyDatabase();
  const query: Fixtures["query"] = (text, values) =>
    withClient(databaseUrl, async (client) => (await client.query(text, values)).rows);
  const { settings: byEnvironment, close, provider, samlProvider } = await startProviders(origin);
  const env = {
    STILE_THIRD_PARTY_CUSTOM_PROVIDERS: byEnvironment.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "",
    STILE_SAML_IDENTITY_PROVIDERS: byEnvironment.STILE_SAML_IDENTITY_PROVIDERS ?? "",
    DATABASE_URL: databaseUrl,
    BASE_URL: origin,
    // That of the configuration.
    SECRET_KEYS: "",
  };
  let server = await startFormerRelease(env, folder);
  try {
    await query("create rule keep_mails as on delete to mailbox do instead nothing", []);
    const keyFor = (...words: string[]) => runFormerCli(server, "keys", "create", "--interface", ...words);
    const authenticatorKey = await keyFor("authenticator", "--name", "a phone application");
    const fixtures: Fixtures = { origin, query, provider, samlProvider, authenticatorKey };
    const walks = await beginWalks(server, fixtures);
    const trusted = await trustedBrowser(server, fixtures);
    const authorization = await authorizationCode(server, fixtures);
    await enterWrongPassword(server, fixtures);
    const tenant = await anotherTenant(server, fixtures);
    const passkeys = await passkeyServer(server, await keyFor("passkeys", "--name", "a shop"));
    await storedWebhook(server, await keyFor("admin", "--name", "an operator"));
    await query("drop rule keep_mails on mailbox", []);
    // These mails and SMS cannot be sent.
    await server.kill("SIGTERM");
    const undelivered = {
      SMTP_URL: "smtp://127.0.0.1:9",
      STILE_SMS_DELIVERY_URL: "http://127.0.0.1:9",
      STILE_SMS_DELIVERY_ACCOUNT_SID: "an_account",
      STILE_SMS_DELIVERY_AUTH_TOKEN: "a token",
    };
    server = await startFormerRelease({ ...env, ...undelivered }, folder);
    const authenticator = await authenticatorOf(server, authenticatorKey);
    const unmailed = await unsentLogin(
      "a login by a mailed code",
      "passcode_confirmation",
      server,
      walks,
      fixtures,
    );
    const unsent = await unsentLogin("a login with a code by SMS", "login_sms", server, walks, fixtures);
    await waitForRetries(query);
    await keepWaiting(fixtures);
    const recording = {
      issuer: provider.issuer,
      samlOrigin: new URL(samlProvider.metadataUrl).origin,
      walks: walks.map(recordWalk),
      trusted,
      unmailed,
      unsent,
      authorization,
      tenant,
      passkeys,
      authenticator,
    };
    await shorten(query, recording);
    const recordedAt = new Date().toISOString();
    await query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      [],
    );
    const dump = await withClient(databaseUrl, dumpDatabase);
    await assertRestorable(dump);
    const header = [
      `-- The database of release ${formerRelease.version} (commit ${formerRelease.commit}), as`,
      "-- scripts/record-former-release.ts has recorded it. All users and secrets are made up. What is sealed opens with the",
      "-- key in stile.config.json beside this file; what users hold, private keys included, is in users.json.",
      "",
    ];
    writeFileSync(join(target, "database.sql"), header.join("\n") + dump);
    writeFileSync(
      join(target, "users.json"),
      `${JSON.stringify({ recordedAt, ...recording } satisfies Recording)}\n`,
    );
  } finally {
    await server.stop();
    await close();
  }
}

/** Lists the sections of settings of the former release, nested ones included, of which the file sets nothing. */
async function unsetSections(): Promise<string[]> {
  const sections = new Map<string, boolean>();
  for (const path of await settingsOfFormerRelease()) {
    if (path.length === 1) continue;
    const section = path.slice(0, -1);
    const value = path.reduce<unknown>((tree, name) => (tree as Record<string, unknown>)?.[name], settings);
    const name = section.join(".");
    sections.set(name, sections.get(name) === true || value !== undefined);
  }
  return [...sections].flatMap(([name, isSet]) => (isSet ? [] : [name]));
}

async function emptyDatabase(): Promise<string> {
  const name = `recording_${randomUUID().replaceAll("-", "")}`;
  await withClient(cluster.adminUrl, (client) => client.query(`create database ${name} owner stile`));
  return cluster.ownerUrl.replace(/[^/]+$/, name);
}

/** Begins each journey, and stops once in each state of each type of flow. The account of a login exists before. */
async function beginWalks(server: RunningServer, fixtures: Fixtures): Promise<Walk[]> {
  const walks: Walk[] = [];
  const visited = new Set<string>();
  for (const journey of allJourneys) {
    for (let steps = 0; ; steps++) {
      const walk = await begin(withAccount(journey), server, fixtures, steps);
      if (!walk) break;
      const place = `${journey.type} ${walk.client.state.name}`;
      if (steps > 0 && visited.has(place)) continue;
      visited.add(place);
      walks.push(walk);
    }
  }
  return walks;
}

/** A login that creates its account is a second one. */
function withAccount(journey: Journey): Journey {
  if (journey.type !== "login" || journey.prepare) return journey;
  return {
    ...journey,
    prepare: ({ server, ...start }) => complete(journey, { ...start, client: flowClient(server.url) }),
  };
}

/** Signs in with a second factor and chooses a username and a picture, in a browser that is trusted from then on. */
async function trustedBrowser(server: RunningServer, fixtures: Fixtures): Promise<Recording["trusted"]> {
  const person = newPerson();
  const client = flowClient(server.url);
  await registered({ ...registration, ...createTotp })({ server, client, person, fixtures });
  const journey: Journey = {
    name: "a login in a browser that is trusted",
    type: "login",
    acts: { ...login, ...chooseUsername, login_otp: answerTotp() },
    end: atState("success"),
  };
  await complete(journey, { client, person, fixtures });
  await client.start("profile");
  await client.act("register_client_capabilities", { webauthn_available: true });
  await client.act("picture_update", { picture: jpegPicture("square").toString("base64url") });
  return { person: recordPerson(person), cookies: recordCookies(client) };
}

/** Signs in on the hosted page for an application, which has not redeemed its code. */
async function authorizationCode(
  server: RunningServer,
  fixtures: Fixtures,
): Promise<Recording["authorization"]> {
  const person = newPerson();
  const client = flowClient(server.url);
  await registered(registration)({ server, client, person, fixtures });
  const code_verifier = randomBytes(32).toString("base64url");
  const redirect_to = "https://shop.example.com/signed-in";
  const asked = new URLSearchParams({
    redirect_to,
    code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
  });
  await client.request(`/login?${asked}`);
  type Shown = { state: State; version: number; redirect_to?: string };
  const call = async (procedure: string, input: object): Promise<Shown> => {
    const response = await client.request(`/api/trpc/${procedure}`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ type: "login", ...input }),
    });
    return (await response.json()).result.data;
  };
  let shown = await call("flow.start", {});
  while (shown.state.name !== "success") {
    const act = byPassword.acts[shown.state.name];
    if (!act) throw new Error(`the page shows ${shown.state.name}`);
    const [action, input = {}] = await act({ state: shown.state, person, client, fixtures });
    shown = await call("flow.act", { action, input, version: shown.version });
  }
  const code = new URL(shown.redirect_to ?? origin).searchParams.get("code");
  if (code === null) throw new Error(`the page leads to ${shown.redirect_to}`);
  return { person: recordPerson(person), code, code_verifier, redirect_to };
}

/** Leaves a counted failure. */
async function enterWrongPassword(server: RunningServer, fixtures: Fixtures): Promise<void> {
  const walk = await begin(byPassword, server, fixtures, 3);
  await walk?.client.act("password_login", { password: `${password}?` });
}

/** Creates a tenant with settings, one of which is sealed, and a user of it, who is signed in. */
async function anotherTenant(server: RunningServer, fixtures: Fixtures): Promise<Recording["tenant"]> {
  const file = join(folder, "tenant.json");
  const otters = {
    session: { algorithm: "EdDSA" },
    third_party: {
      providers: { github: { enabled: true, client_id: "otters", secret: "a secret of the test" } },
    },
  };
  writeFileSync(file, JSON.stringify(otters));
  const id = await runFormerCli(server, "tenants", "create", "--name", "Otters", "--config", file);
  const client = flowClient(`${server.url}/t/${id}`);
  const person = newPerson();
  const journey: Journey = {
    name: "a registration with another tenant",
    type: "registration",
    acts: registration,
    end: atState("success"),
  };
  await complete(journey, { client, person, fixtures });
  return { id, person: recordPerson(person), cookies: recordCookies(client) };
}

/** Registers a user of the passkey server, and leaves a login, a transaction and a code under way. */
async function passkeyServer(server: RunningServer, key: string): Promise<Recording["passkeys"]> {
  const userId = "heron-1";
  const authenticator = softwareAuthenticator();
  const at = `${server.url}/passkeys/${settings.tenant.id}`;
  const call = async (path: string, body: unknown, headers: Record<string, string> = { apikey: key }) => {
    const response = await fetch(at + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    const answer = (await response.json()) as any;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const created = await call("/registration/initialize", { user_id: userId, username: "Heron" });
  await call("/registration/finalize", authenticator.create(created, { origin }));
  const begun = () =>
    call("/transaction/initialize", {
      user_id: userId,
      transaction_id: randomUUID(),
      transaction_data: { to: "Grace", amount: "12.00" },
      confirmation: { redirect_to: "https://shop.example.com/paid" },
    });
  const tokenOf = (options: { confirmation_url: string }) =>
    new URL(options.confirmation_url).searchParams.get("token") ?? "";
  const confirmed = await begun();
  const answer = { token: tokenOf(confirmed), credential: authenticator.get(confirmed, { origin }) };
  const { redirect_to } = await call("/transaction/confirm", answer, { "sec-fetch-site": "same-origin" });
  const transaction = await begun();
  return {
    key,
    userId,
    credentials: recordCredentials(authenticator),
    login: await call("/login/initialize", {}),
    transaction,
    pageToken: tokenOf(transaction),
    code: new URL(redirect_to).searchParams.get("code") ?? "",
  };
}

/** Registers a phone by the application's interface, and leaves a request for it, whose push cannot be delivered. */
async function authenticatorOf(server: RunningServer, key: string): Promise<Recording["authenticator"]> {
  const userId = "otter-1";
  const pushToken = "the push token of the phone";
  const phone = createUafAuthenticator();
  const authorization = `secret ${key}`;
  const address = `${server.url}/authenticator${requests}`;
  const create = async (operation: string) => {
    const body = { operation, userId, username: "Otter" };
    const { body: made, text } = await callAt(address, "POST", { authorization, body });
    if (!made?.id) throw new Error(text);
    return made;
  };
  const registration = await create("REG");
  const uafResponse = phone.register(registration.request, { facetId: origin });
  const answer = { uafResponse, deviceKeyInfo: { pushToken, keyName: "A phone" } };
  const { body } = await callAt(`${address}/${registration.id}`, "PUT", { authorization, body: answer });
  if (body?.status !== "OK") throw new Error("the phone was not registered");
  const waiting = await create("AUTH");
  const picture = await fetch(linkOf(waiting, "qrcode").href.replace(origin, server.url));
  const { pathname, searchParams } = new URL(readPng(await picture.bytes()).text ?? "");
  const request = { id: waiting.id, path: pathname, device: `device ${searchParams.get("token")}` };
  return { key, userId, phone: recordUafKeys(phone), pushToken, request };
}

/** Asks for a code, in the state that waits for it, while none can be sent. */
async function unsentLogin(
  name: string,
  waiting: string,
  server: RunningServer,
  walks: Walk[],
  fixtures: Fixtures,
): Promise<RecordedWalk> {
  const journey = allJourneys.find((one) => one.name === name);
  const of = walks.find((walk) => walk.journey.name === name && walk.steps === 0);
  if (!journey || !of) throw new Error(`there is no journey "${name}"`);
  const walk: Walk = { journey, client: flowClient(server.url), person: newPerson(), fixtures, steps: 0 };
  const { email, phoneNumber, usedCodes } = of.person;
  Object.assign(walk.person, { email, phoneNumber, usedCodes: new Set(usedCodes) });
  await walk.client.start("login");
  while (walk.client.state.name !== waiting) {
    const { state } = walk.client;
    const act = journey.acts[state.name];
    if (!act) throw new Error(`${name} does not know ${state.name}`);
    const [action, input] = await act({ ...walk, state });
    await walk.client.act(action, input);
    walk.steps += 1;
  }
  return recordWalk(walk);
}

/** Stores a webhook that nothing answers. */
async function storedWebhook(server: RunningServer, key: string): Promise<void> {
  const response = await fetch(`${server.url}/admin/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ callback: "http://127.0.0.1:59999/stored", events: ["user.delete"] }),
  });
  if (!response.ok) throw new Error(await response.text());
}

/** Waits until the attempt at each job has failed, so that none is taken by a process that has gone. */
async function waitForRetries(query: Fixtures["query"]): Promise<void> {
  await eventually(async () => {
    const states = await query(
      "select distinct name, state::text from pgboss.job where state in ('created', 'retry', 'active') order by name",
      [],
    );
    const expected = ["push_authenticator_request", "send_mail", "send_sms"].map((name) => ({
      name,
      state: "retry",
    }));
    if (JSON.stringify(states) !== JSON.stringify(expected)) throw new Error(JSON.stringify(states));
  });
}

/** Removes what walks have left that are not recorded, and all but a few of what each walk leaves many of. */
async function shorten(
  query: Fixtures["query"],
  recording: Omit<Recording, "recordedAt"> & { unsent: RecordedWalk },
): Promise<void> {
  const { walks, trusted, authorization, tenant, unmailed, unsent } = recording;
  const persons = [...walks, trusted, authorization, tenant, unmailed, unsent].map(({ person }) => person);
  const flows = [...walks, unmailed, unsent].flatMap(({ state }) =>
    Object.values(state.actions).map(({ href }) => decodeURIComponent(href).replace(/^.*@/, "")),
  );
  await query(
    `delete from flows where id <> all ($1)
       and id not in (select id from flows where finished_at is not null order by created_at limit 3)`,
    [[...new Set(flows)]],
  );
  await query(
    `delete from users u where not exists (
       select from emails e where e.tenant_id = u.tenant_id and e.user_id = u.id and e.address = any ($1))
       and id not in (select user_id from flows where user_id is not null)`,
    [persons.map(({ email }) => email)],
  );
  await query("delete from audit_logs where user_id not in (select id from users)", []);
  for (const table of ["webauthn_challenges", "third_party_requests", "passcodes"])
    await query(`delete from ${table} where flow_id not in (select id from flows)`, []);
  for (const table of ["audit_logs", "events", "failures", "rate_limits", "seen_assertions"])
    await query(`delete from ${table} where ctid not in (select ctid from ${table} limit 10)`, []);
  // A mail is most of what is stored of a registration. These wait for their codes.
  const bySms = ["login_sms", "phone_confirmation"];
  const recipients = walks.flatMap(({ state, person }) => {
    if (bySms.includes(state.name)) return [person.phoneNumber];
    return state.name === "passcode_confirmation" ? [person.addedEmail ?? person.email] : [];
  });
  await query("delete from mailbox where recipient <> all ($1)", [recipients]);
  await query("delete from pgboss.job where state not in ('created', 'retry')", []);
}

/** Restores the dump, and dumps the restored database. */
async function assertRestorable(dump: string): Promise<void> {
  const databaseUrl = await emptyDatabase();
  const again = await withClient(databaseUrl, async (client) => {
    await client.query(dump);
    return dumpDatabase(client);
  });
  if (again !== dump) throw new Error("the dump does not restore all objects of the database");
}

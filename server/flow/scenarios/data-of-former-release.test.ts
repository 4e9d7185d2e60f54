import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startParameters } from "../../../scripts/start-parameters.ts";
import { loadConfig } from "../../config/load.ts";
import { eventually } from "../../testing/eventually.ts";
import { flowClient } from "../../testing/flow-client.ts";
import { allJourneys, journeys } from "../../testing/journeys/index.ts";
import {
  atState,
  complete,
  describeWalk,
  type Fixtures,
  finish,
  type Journey,
  passOverCodes,
} from "../../testing/journeys/journey.ts";
import { login } from "../../testing/journeys/logins.ts";
import { startProviders } from "../../testing/journeys/settings.ts";
import { withClient } from "../../testing/postgres-cluster.ts";
import {
  browserOf,
  credentialOf,
  personOf,
  phoneOf,
  type Recording,
  readRecording,
  recordedReleases,
  recordingFolder,
  restoreRecording,
  resumeWalk,
} from "../../testing/recording.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { tablesOf } from "../../testing/sql-dump.ts";
import { runStile } from "../../testing/stile.ts";
import { callAt } from "../../testing/uaf-service.ts";
import { requests } from "../../testing/uaf-walk.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { startReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";

/**
 * A database that a release itself has filled, with each method and each table in use, is migrated and served by this
 * version, with the configuration of that release. `scripts/record-former-release.ts` has recorded it.
 */

/** The journeys of the releases, each of which was recorded. */
const journeysOf = { "0.2": journeys, "0.3": allJourneys };

/** Progress of an import by the command line, which has a row while it runs. */
const ofImports = "public.user_imports";

describe.each(recordedReleases)("a database of release %s", (release) => {
  const source = recordingFolder(release);

  let folder: string;
  let fixtures: Fixtures;
  let recording: Recording;
  let server: RunningServer;
  let receiver: WebhookReceiver;
  let closeProviders: () => Promise<void>;
  /** Rows by table, as they were recorded, and after the migration. */
  let recorded: Map<string, number>;
  let migrated: Map<string, number>;

  /** The environment of commands, which is that of the server. */
  let env: NodeJS.ProcessEnv;

  async function stile(...words: string[]): Promise<string> {
    const { code, out, err } = await runStile(words, { cwd: folder, env });
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  /** Counts the rows of the tables, those of the job queue included. */
  const countRows = (databaseUrl: string) =>
    withClient(databaseUrl, async (client) => {
      const counts = new Map<string, number>();
      for (const { name } of await tablesOf(client)) {
        const { rows } = await client.query(`select count(*)::int as count from ${name}`);
        counts.set(name, rows[0]?.count);
      }
      return counts;
    });

  const recordedOf = (journey: string, steps: number) => {
    const walk = recording.walks.find((one) => one.journey === journey && one.steps === steps);
    if (!walk) throw new Error(`${journey} was not recorded`);
    return walk;
  };

  beforeAll(async () => {
    const { adminUrl, ownerUrl } = inject("postgres");
    const name = `recorded_${randomUUID().replaceAll("-", "")}`;
    await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
    const databaseUrl = ownerUrl.replace(/[^/]+$/, name);
    folder = mkdtempSync(join(tmpdir(), "stile recorded "));
    copyFileSync(join(source, "stile.config.json"), join(folder, "stile.config.json"));
    const { base_url: origin } = JSON.parse(readFileSync(join(folder, "stile.config.json"), "utf8"));
    const { settings, close, ...providers } = await startProviders(origin);
    closeProviders = close;
    receiver = await startReceiver();
    recording = readRecording(source, providers);
    await restoreRecording(databaseUrl, source, recording);
    recorded = await countRows(databaseUrl);
    // The servers that recorded it have ended.
    await withClient(databaseUrl, (client) =>
      client.query("update instances set leased_until = now() - interval '1 hour'"),
    );
    const deployment = {
      DATABASE_URL: databaseUrl,
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "",
      STILE_SAML_IDENTITY_PROVIDERS: settings.STILE_SAML_IDENTITY_PROVIDERS ?? "",
      STILE_AUTHENTICATOR_PUSH_URL: receiver.url,
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    };
    env = { ...deployment, NODE_ENV: "development" };
    await stile("migrate");
    migrated = await countRows(databaseUrl);
    server = await startServer({
      // Those of the configuration.
      env: { ...deployment, BASE_URL: "", SECRET_KEYS: "" },
      program: { folder, parameters: [...startParameters.stile] },
    });
    fixtures = {
      origin,
      query: (text, values) =>
        withClient(databaseUrl, async (client) => (await client.query(text, values)).rows),
      authenticatorKey: recording.authenticator.key,
      ...providers,
    };
  });

  afterAll(async () => {
    await server?.stop();
    await receiver?.close();
    await closeProviders?.();
    rmSync(folder, { recursive: true, force: true });
  });

  test("has a row in each of its tables", () => {
    const empty = [...recorded].flatMap(([name, count]) =>
      name.startsWith("public.") && count === 0 ? [name] : [],
    );
    expect(empty).toEqual(release === "0.2" ? [] : [ofImports]);
    expect(recorded.get("pgboss.job_common")).toBeGreaterThan(0);
  });

  test("keeps all rows when it is migrated", () => {
    const kept = [...recorded].map(([name]) => [name, migrated.get(name)]);
    // What ran is not what was stored.
    const changed = new Set(["drizzle.__drizzle_migrations", "public.instances"]);
    const compared = (rows: unknown[][]) => rows.filter(([name]) => !changed.has(String(name)));
    expect(compared(kept)).toEqual(compared([...recorded]));
  });

  test("has a configuration that this version reads without a change", () => {
    const config = loadConfig({}, folder);
    expect(config.service.name).toBe("Herons");
    expect(config.password.pepper).toBe("a pepper of the recorded database alone");
  });

  describe("what was under way", () => {
    test("a session goes on", async () => {
      const walks = recording.walks.filter(({ journey, steps }) => isSignedIn(journey) && steps === 0);
      expect(walks.length).toBeGreaterThan(3);
      for (const walk of walks) {
        const browser = browserOf(walk, server);
        const validated = await (await browser.request("/sessions/validate")).json();
        expect(validated).toMatchObject({ is_valid: true });
        const me = await (await browser.request("/me")).json();
        expect(me.user_id ?? me.id).toBe(validated.user_id);
      }
    });

    test("a waiting mail with a code is sent, and the code is right", async () => {
      const walk = resumeWalk(recording.unmailed, server, fixtures);
      await finish(walk);
      expect(walk.client.state.name).toBe("success");
    });

    test.skipIf(release === "0.2")("a waiting SMS with a code is sent, and the code is right", async () => {
      if (!recording.unsent) throw new Error("no SMS was recorded");
      const walk = resumeWalk(recording.unsent, server, fixtures);
      await finish(walk);
      expect(walk.client.state.name).toBe("success");
    });

    test("a waiting push is sent to the application, signed", async () => {
      const { request, pushToken } = recording.authenticator;
      const pushed = await eventually(() => {
        const found = receiver.received.find(({ body }) => body.includes(request.id));
        if (!found) throw new Error("no push was sent");
        return found;
      });
      expect(JSON.parse(pushed.body)).toMatchObject({ requestId: request.id, pushTokens: [pushToken] });
      expect(pushed.headers["webhook-signature"]).toMatch(/^v1,/);
    });

    test("the phone answers a request that waited", async () => {
      const { key, phone, request } = recording.authenticator;
      const address = server.url + request.path;
      const { body: seen } = await callAt(address, "GET", { authorization: request.device });
      const uafResponse = phoneOf(phone).authenticate(seen.request, { facetId: fixtures.origin });
      await callAt(address, "PUT", { authorization: request.device, body: { uafResponse } });
      const { body } = await callAt(`${server.url}/authenticator${requests}/${request.id}`, "GET", {
        authorization: `secret ${key}`,
      });
      expect(body.status).toBe("OK");
    });

    test("an application redeems the code of a sign-in", async () => {
      const { code, code_verifier, redirect_to } = recording.authorization;
      const response = await fetch(`${server.url}/token`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code, code_verifier, redirect_to }),
      });
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ session_token: expect.any(String) }),
      ]);
    });

    test("the passkey server takes the answers to a login and to a transaction, and redeems a code", async () => {
      const { passkeys } = recording;
      const call = passkeyCaller();
      const authenticator = passkeyHolder();
      const { origin } = fixtures;
      const login = await call("POST", "/login/finalize", authenticator.get(passkeys.login, { origin }));
      expect(login).toMatchObject({ status: 200, body: { token: expect.any(String) } });
      const credential = authenticator.get(passkeys.transaction, { origin });
      const confirmed = await call(
        "POST",
        "/transaction/confirm",
        { token: passkeys.pageToken, credential },
        { "sec-fetch-site": "same-origin" },
      );
      expect(confirmed).toMatchObject({ status: 200 });
      const redeemed = await call("POST", "/transaction/redeem", { code: passkeys.code });
      expect(redeemed).toMatchObject({ status: 200, body: { token: expect.any(String) } });
      const listed = await call("GET", `/transaction/${passkeys.userId}`);
      expect(listed.body).toHaveLength(2);
      expect((await call("GET", `/credentials?user_id=${passkeys.userId}`)).body).toHaveLength(1);
      const again = await call("POST", "/login/initialize", {});
      const present = await call("POST", "/login/finalize", authenticator.get(again.body, { origin }));
      expect(present.status).toBe(200);
    });

    test("each flow goes on and ends, from every state", async () => {
      const failures: string[] = [];
      const walks = recording.walks.filter(({ journey, steps }) => steps > 0 || !isLogin(journey));
      for (const recordedWalk of walks) {
        const walk = resumeWalk(recordedWalk, server, fixtures);
        const place = describeWalk(walk);
        await finish(walk).catch((error: unknown) => failures.push(`${place}: ${(error as Error).message}`));
      }
      expect(walks.length).toBeGreaterThan(30);
      expect(failures).toEqual([]);
    });
  });

  describe("accounts", () => {
    test.each(journeysOf[release].filter(({ type }) => type === "login").map(({ name }) => [name]))(
      "sign in by %s",
      async (name) => {
        const { journey, person } = resumeWalk(recordedOf(name, 0), server, fixtures);
        const client = flowClient(server.url);
        // The flow that waited for its code, which was sent after the upgrade, is of one of these accounts.
        await passOverCodes(person, fixtures);
        await complete(journey, { client, person, fixtures });
        expect(client.state.name).toBe("success");
        const validated = await (await client.request("/sessions/validate")).json();
        expect(validated).toMatchObject({ is_valid: true });
      },
    );

    test("a trusted browser still skips the second factor", async () => {
      const client = browserOf(recording.trusted, server);
      const withoutSecondFactor: Journey = {
        name: "a login in a trusted browser",
        type: "login",
        acts: login,
        end: atState("success"),
      };
      await complete(withoutSecondFactor, { client, person: personOf(recording.trusted.person), fixtures });
      expect(client.state.name).toBe("success");
    });

    test("another tenant's user is signed in and signs in again", async () => {
      const { id, person } = recording.tenant;
      const at = { url: `${server.url}/t/${id}` };
      const signedIn = browserOf(recording.tenant, at);
      expect(await (await signedIn.request("/sessions/validate")).json()).toMatchObject({ is_valid: true });
      const byPassword = allJourneys.find(({ name }) => name === "a login by a password");
      if (!byPassword) throw new Error("no such journey");
      const client = flowClient(at.url);
      await complete(byPassword, { client, person: personOf(person), fixtures });
      expect(client.state.name).toBe("success");
    });

    test("a phone that an application has registered signs again", async () => {
      const { key, userId, phone } = recording.authenticator;
      const authorization = `secret ${key}`;
      const address = `${server.url}/authenticator${requests}`;
      const asked = { operation: "AUTH", userId, username: "Otter" };
      const { body: request } = await callAt(address, "POST", { authorization, body: asked });
      const uafResponse = phoneOf(phone).authenticate(request.request, { facetId: fixtures.origin });
      const { body } = await callAt(`${address}/${request.id}`, "PUT", {
        authorization,
        body: { uafResponse },
      });
      expect(body.status).toBe("OK");
    });
  });

  describe("the administration interface", () => {
    let key: string;
    beforeAll(async () => {
      key = await stile("keys", "create", "--interface", "admin", "--name", "the test");
    });

    async function call(method: string, path: string, body?: unknown) {
      const response = await fetch(`${server.url}/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
      const answer = (await response.json()) as any;
      return { status: response.status, headers: response.headers, body: answer };
    }

    test("lists the users, each with what it has, and the audit log", async () => {
      const [first] = await fixtures.query("select count(*)::int as count from users where tenant_id = $1", [
        recording.tenant.id,
      ]);
      expect(first).toEqual({ count: 1 });
      const users = await call("GET", "/users?per_page=100");
      expect(users.status).toBe(200);
      expect(users.body.length).toBeGreaterThan(30);
      for (const { id } of users.body) {
        expect(await call("GET", `/users/${id}`)).toMatchObject({ status: 200, body: { id } });
        expect((await call("GET", `/users/${id}/sessions`)).status).toBe(200);
        expect((await call("GET", `/users/${id}/webauthn_credentials`)).status).toBe(200);
      }
      const addresses = users.body.flatMap(({ emails }: { emails?: { address: string }[] }) =>
        (emails ?? []).map(({ address }) => address),
      );
      expect(addresses).toContain(recordedOf("a login by a password", 0).person.email);
      const log = await call("GET", "/audit_logs?per_page=100");
      expect([log.status, log.body.length > 0]).toEqual([200, true]);
    });

    test("delivers a sign-in to a webhook that is added", async () => {
      const created = await call("POST", "/webhooks", { callback: receiver.url, events: ["user.login"] });
      expect(created.status).toBe(201);
      const { journey, person } = resumeWalk(recordedOf("a login by a password", 0), server, fixtures);
      await complete(journey, { client: flowClient(server.url), person, fixtures });
      await eventually(() => {
        const delivered = receiver.received.filter(({ event }) => event === "user.login");
        if (delivered.length === 0) throw new Error("no event was delivered");
      });
      expect(receiver.received.some(({ event }) => event === "user.login")).toBe(true);
    });
  });

  test("every stored secret opens and moves under another key", async () => {
    const { secret_keys } = JSON.parse(readFileSync(join(folder, "stile.config.json"), "utf8"));
    env = { ...env, SECRET_KEYS: ["a key that came later", ...secret_keys].join(",") };
    const moved: { table: string; moved: number; unknown: string[] }[] = JSON.parse(
      await stile("secrets", "reseal", "--json"),
    );
    const byTable = Object.fromEntries(moved.map((one) => [one.table, one]));
    for (const table of ["signing_keys", "totp_secrets", "authenticator_devices", "tenants"]) {
      expect(byTable[table]?.moved, table).toBeGreaterThan(0);
      expect(byTable[table]?.unknown, table).toEqual([]);
    }
  });

  /** Whether the browser of the journey's walks is signed in before they begin. */
  const isSignedIn = (journey: string) => typeOf(journey) === "profile";
  const isLogin = (journey: string) => typeOf(journey) === "login";
  const typeOf = (journey: string) => allJourneys.find(({ name }) => name === journey)?.type;

  function passkeyCaller() {
    const { id } = loadConfig({}, folder).tenant;
    return async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = { apikey: recording.passkeys.key },
    ) => {
      const response = await fetch(`${server.url}/passkeys/${id}${path}`, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    };
  }

  function passkeyHolder() {
    const authenticator = softwareAuthenticator();
    authenticator.credentials.push(...recording.passkeys.credentials.map(credentialOf));
    return authenticator;
  }
});

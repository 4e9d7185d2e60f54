import { randomUUID } from "node:crypto";
import { and, desc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { faultsOfWords, textPaths } from "#words/own-texts";
import { createTenant, updateTenant } from "../../tenants/manage-tenants.ts";
import { type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newName, newNumber } from "../../testing/people.ts";
import type { TestRuntime } from "../../testing/runtime.ts";

const runtime = await runtimeForTests({ STILE_FLOW_LIFETIME: "1800" });
const operator = await adminOperator(runtime);
const { settingsHistory, tenants, auditLogs } = schema;

let own: AdminOperator;
let other: AdminOperator;
let inOwn: TestRuntime;
let withPasskey: AccountOwner;
let withPassword: AccountOwner;

const secret = "smtp://user:hush@mail.example";

beforeEach(async () => {
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }));
  other = await adminOperator(
    runtime,
    await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
  );
  inOwn = { ...runtime, tenant: own.tenant };
  withPasskey = await accountOwner(inOwn, { emails: 0, username: newName(), passkeys: 1 });
  withPassword = await accountOwner(inOwn, {
    username: newName(),
    password: true,
    totp: true,
    phone: { number: newNumber() },
  });
});

const history = async (as = own) => (await as.call("GET", "/tenant/settings_history")).body;

const versionOf = async () => (await own.call("GET", "/tenant")).body.updated_at;

const patch = (config: object, more: object = {}, as = own) =>
  as.call("PATCH", "/tenant", { config, ...more });

const withoutPasskeys = { passkey: { enabled: false } };

describe("a dry run", () => {
  test("tells whom a change would lock out, masked, and changes nothing", async () => {
    const before = await versionOf();
    const answer = await own.call("POST", "/tenant/dry_run", { config: withoutPasskeys });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      updated_at: before,
      users: 2,
      locked_out: {
        count: 1,
        groups: [
          {
            count: 1,
            reasons: expect.arrayContaining(["`passkey.enabled` is off."]),
            sample: [
              {
                id: withPasskey.userId,
                email: null,
                username: expect.stringMatching(/^u\*\*\*$/),
                phone: null,
              },
            ],
            keys: [expect.any(Number)],
          },
        ],
      },
      locked_out_before: { count: 0, groups: [] },
      flows: [],
    });
    expect(await versionOf()).toBe(before);
    expect((await own.call("GET", "/tenant")).body.config).toEqual({});
    const ofOperator = await operator.call("POST", `/tenants/${own.tenant.id}/dry_run`, {
      config: withoutPasskeys,
    });
    expect(ofOperator.body).toEqual(answer.body);
  });

  test("tells who is asked for a second factor, and no longer is", async () => {
    const { body } = await own.call("POST", "/tenant/dry_run", { config: { mfa: { enabled: false } } });
    expect(body.second_factor_not_asked).toMatchObject({
      count: 1,
      groups: [
        { sample: [{ id: withPassword.userId, email: expect.stringMatching(/^.\*\*\*@example.com$/) }] },
      ],
    });
    const [{ sample, reasons }] = body.second_factor_not_asked.groups;
    expect(sample[0].phone).toMatch(/^•••\d\d$/);
    expect(reasons).toContain("The account has no accepted second factor.");
  });

  test("lists all users of its groups, masked, as lines of JSON", async () => {
    const withCode = await accountOwner(inOwn);
    const config = { passkey: { enabled: false }, email: { use_for_authentication: false } };
    const { body } = await own.call("POST", "/tenant/dry_run", { config });
    const keys = body.locked_out.groups.flatMap((group: { keys: number[] }) => group.keys);
    const { status, headers, text } = await own.call("POST", "/tenant/dry_run/users", { config, keys });
    expect([status, headers.get("content-type")]).toEqual([200, "application/jsonl; charset=utf-8"]);
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual([withPasskey.userId, withCode.userId].toSorted());
    expect(text).not.toContain(withCode.addresses[0]);
  });

  test("of the default tenant judges a change of the configuration of the server", async () => {
    const { userId } = await accountOwner(runtime, { emails: 0, passkeys: 1 });
    const { status, body } = await operator.call("POST", "/tenant/dry_run", { config: withoutPasskeys });
    expect([status, body.locked_out.groups[0].sample.map(({ id }: { id: string }) => id)]).toEqual([
      200,
      [userId],
    ]);
    expect((await operator.call("POST", "/tenant/dry_run", { config: {} })).body.locked_out.count).toBe(0);
    const invalid = await operator.call("POST", "/tenant/dry_run", { config: { port: "x" } });
    expect([invalid.status, invalid.body.message]).toEqual([400, expect.stringContaining("port")]);
  });

  test.each([
    [{ password: { min_length: 1 } }, 400, "password.min_length"],
    [{ colour: "red" }, 400, "colour"],
    [{ port: 80 }, 400, "port"],
    [{ mfa: { sms: { enabled: true } } }, 403, "mfa.sms"],
    [{ session: { cookie: { name: "stile" } } }, 403, "session.cookie"],
  ])(
    "A315 of %j, which the change itself rejects, is rejected with the same answer",
    async (config, status, setting) => {
      const dry = await own.call("POST", "/tenant/dry_run", { config });
      const wet = await patch(config);
      expect([dry.status, dry.body]).toEqual([wet.status, wet.body]);
      expect([dry.status, dry.body.message]).toEqual([status, expect.stringContaining(setting)]);
      const listed = await own.call("POST", "/tenant/dry_run/users", { config, keys: [1] });
      expect([listed.status, listed.body]).toEqual([wet.status, wet.body]);
    },
  );

  test("A315 with halves of characters is answered as the change is", async () => {
    const lone = String.raw`"\ud800x"`;
    for (const config of [
      `{"words":{"en":{"states.login_init.title":${lone}}}}`,
      `{"links":{"terms":${lone}}}`,
      `{"session":{"jwt_template":{"claims":{"a":${lone}}}}}`,
      `{"session":{"jwt_template":{"claims":{${lone}:1}}}}`,
      `{"third_party":{"custom_providers":{${lone}:{"display_name":"x"}}}}`,
      `{${lone}:1}`,
    ]) {
      const dry = await own.call("POST", "/tenant/dry_run", `{"config":${config}}`);
      const wet = await own.call("PATCH", "/tenant", `{"config":${config}}`);
      expect([config, dry.status, wet.status]).toEqual([
        config,
        wet.status,
        expect.toSatisfy((s) => s < 500),
      ]);
    }
  });

  test("A315 with a body that is no change, and keys that name no group, are answered", async () => {
    for (const body of [{}, { config: [] }, { config: null }, [], "{", { config: {}, users: 1 }])
      expect((await own.call("POST", "/tenant/dry_run", body)).status).toBe(400);
    const list = (keys: unknown) => own.call("POST", "/tenant/dry_run/users", { config: {}, keys });
    for (const keys of [[], [-1], [2 ** 31], ["1"], [1.5], null, Array(5000).fill(1)])
      expect((await list(keys)).status).toBe(400);
    const answer = await list([0, 2 ** 31 - 1]);
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });
});

describe("A316 the settings, history and users of another tenant", () => {
  test("are not found with the key of a tenant, by any address", async () => {
    await patch({ mfa: { optional: false } });
    const [version] = await history();
    for (const id of [own.tenant.id, runtime.tenant.id, randomUUID()]) {
      const answers = [
        await other.call("GET", `/tenants/${id}/settings`),
        await other.call("POST", `/tenants/${id}/dry_run`, { config: {} }),
        await other.call("POST", `/tenants/${id}/dry_run/users`, { config: {}, keys: [1] }),
        await other.call("GET", `/tenants/${id}/settings_history`),
        await other.call("POST", `/tenants/${id}/settings_history/${version.id}/restore`, {}),
        await other.call("POST", `/tenant/settings_history/${version.id}/restore`, {}),
      ];
      for (const { status, body } of answers)
        expect([status, body]).toEqual([404, { code: 404, message: "Not found." }]);
    }
    expect(await history(other)).toHaveLength(1);
  });

  test("are in no dry run, and no condition of a change tells of them", async () => {
    const { body } = await other.call("POST", "/tenant/dry_run", { config: withoutPasskeys });
    expect(body).toMatchObject({ users: 0, locked_out: { count: 0 } });
    const answer = await patch(withoutPasskeys, { unless_locked_out: [withPasskey.userId] }, other);
    expect(answer.status).toBe(200);
  });
});

describe("a change of a tenant", () => {
  test("A317 is a conflict if another one was made since, which tells what that changed", async () => {
    const seen = await versionOf();
    const first = await patch({ mfa: { optional: false } }, { if_unchanged_since: seen });
    expect(first.status).toBe(200);
    const second = await patch({ password: { enabled: false } }, { if_unchanged_since: seen });
    expect([second.status, second.body]).toEqual([
      409,
      {
        code: 409,
        message: expect.stringContaining(first.body.updated_at),
        changes: [
          expect.objectContaining({
            created_at: first.body.updated_at,
            by: { kind: "api_key", id: expect.any(String) },
            changes: [{ path: "mfa.optional", after: false }],
          }),
        ],
      },
    ]);
    expect((await own.call("GET", "/tenant")).body.config).toEqual({ mfa: { optional: false } });
    const third = await patch(
      { password: { enabled: false } },
      { if_unchanged_since: first.body.updated_at },
    );
    expect(third.status).toBe(200);
  });

  test("A317 by two operators at once, of the same version, is made once", async () => {
    const seen = await versionOf();
    const answers = await Promise.all(
      [true, false, true, false].map((optional, number) =>
        patch({ mfa: { optional }, password: { min_length: 10 + number } }, { if_unchanged_since: seen }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(await history()).toHaveLength(2);
    expect((await patch({ mfa: { optional: null } }, { if_unchanged_since: "yesterday" })).status).toBe(400);
  });

  test("A318 that would lock out one of the users who must keep their access is refused", async () => {
    const guarded = { unless_locked_out: [withPassword.userId, withPasskey.userId, randomUUID()] };
    const refused = await patch(withoutPasskeys, guarded);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `user ${withPasskey.userId} could no longer sign in.`,
    ]);
    expect((await own.call("GET", "/tenant")).body.config).toEqual({});
    expect(await history()).toHaveLength(1);
    expect((await patch({ mfa: { optional: false } }, guarded)).status).toBe(200);
    const restored = await own.call(
      "POST",
      `/tenant/settings_history/${(await history()).at(-1).id}/restore`,
      guarded,
    );
    expect(restored.status).toBe(200);
    expect((await patch(withoutPasskeys)).status).toBe(200);
    // Those who are locked out already are not the next change's doing.
    expect((await patch({ mfa: { optional: true } }, guarded)).status).toBe(200);
    const many = Array.from({ length: 101 }, () => randomUUID());
    expect((await patch({}, { unless_locked_out: many })).status).toBe(400);
    expect((await patch({}, { unless_locked_out: ["'; drop table users"] })).status).toBe(400);
  });
});

describe("the history of settings", () => {
  test("tells who has changed what, newest first, in pages", async () => {
    await patch({ mfa: { optional: false } });
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { mfa: { optional: true } } });
    await updateTenant(runtime, own.tenant.id, { settings: () => ({}) });
    await updateTenant(
      runtime,
      own.tenant.id,
      { settings: () => ({ flow: { lifetime: 600 } }) },
      {
        ip: null,
        userAgent: "console",
        requestId: null,
        operator: { tenantId: own.tenant.id, userId: withPassword.userId },
      },
    );
    const { headers, body } = await own.call("GET", "/tenant/settings_history?per_page=4");
    expect(headers.get("x-total-count")).toBe("5");
    expect(body.map(({ by, changes }: { by: object; changes: object }) => [by, changes])).toEqual([
      [
        { kind: "user", id: withPassword.userId, tenant_id: own.tenant.id },
        [{ path: "flow.lifetime", after: 600 }],
      ],
      [{ kind: "cli", id: null }, [{ path: "mfa.optional", before: true }]],
      [{ kind: "api_key", id: expect.any(String) }, [{ path: "mfa.optional", before: false, after: true }]],
      [{ kind: "api_key", id: expect.any(String) }, [{ path: "mfa.optional", after: false }]],
    ]);
    const rows = await runtime.database.read
      .select({ details: auditLogs.details })
      .from(auditLogs)
      .where(and(eq(auditLogs.tenantId, own.tenant.id), eq(auditLogs.type, "tenant_changed")));
    expect(rows.map(({ details }) => details)).toContainEqual({
      settings: ["mfa.optional"],
      api_key: expect.any(String),
    });
  });

  test("restores any version, secrets too, as a change like any other", async () => {
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, {
      config: { smtp_url: secret, mfa: { optional: false } },
    });
    const [version] = await history();
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { smtp_url: null, mfa: null } });
    const path = `/tenants/${own.tenant.id}/settings_history/${version.id}/restore`;
    const stale = await operator.call("POST", path, { if_unchanged_since: version.created_at });
    expect(stale.status).toBe(409);
    const restored = await operator.call("POST", path, { if_unchanged_since: await versionOf() });
    expect([restored.status, restored.body]).toEqual([
      200,
      expect.objectContaining({ config: { mfa: { optional: false } }, secrets: ["smtp_url"] }),
    ]);
    const [newest] = await history();
    expect(newest).toMatchObject({
      restored_id: version.id,
      changes: [
        { path: "mfa.optional", after: false },
        { path: "smtp_url", after: "***", secret: true },
      ],
    });
  });

  test("A319 does not let a tenant restore what the operator sets, and never tells a secret", async () => {
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { smtp_url: secret } });
    const [version] = await history();
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { smtp_url: null } });
    const answer = await own.call("POST", `/tenant/settings_history/${version.id}/restore`, {});
    expect([answer.status, answer.body.message]).toEqual([
      403,
      expect.stringContaining("smtp_url is set by the operator"),
    ]);
    for (const as of [own, operator])
      for (const path of [`/tenants/${own.tenant.id}/settings_history`, `/tenants/${own.tenant.id}/settings`])
        expect((await as.call("GET", path)).text).not.toContain("hush");
    const rows = await runtime.database.read.select().from(settingsHistory);
    expect(JSON.stringify(rows.map(({ sealedConfig: _, ...row }) => row))).not.toContain("hush");
  });

  test("begins with the settings that a former version has stored", async () => {
    await patch({ mfa: { optional: false } });
    // A version without a history changes the row alone.
    const config = { password: { min_length: 12 } };
    const updatedAt = new Date(Date.now() + 1);
    await runtime.database.write
      .update(tenants)
      .set({ config, updatedAt })
      .where(eq(tenants.id, own.tenant.id));
    await patch({ mfa: { optional: true } });
    const [newest, unknown, ...others] = await history();
    expect(newest.changes).toEqual([{ path: "mfa.optional", after: true }]);
    expect(unknown).toMatchObject({ by: null, changes: [] });
    expect(others).toHaveLength(2);
    const restored = await own.call("POST", `/tenant/settings_history/${unknown.id}/restore`, {});
    expect(restored.body.config).toEqual(config);
    await runtime.database.write.delete(settingsHistory).where(eq(settingsHistory.tenantId, own.tenant.id));
    await patch({ mfa: { optional: false } });
    expect((await history()).map(({ by }: { by: object | null }) => by)).toEqual([
      expect.objectContaining({ kind: "api_key" }),
      null,
    ]);
  });

  test("tells the tenant of the user who has changed them, while there is the account", async () => {
    const { userId: id } = await accountOwner(runtime);
    const party = { ip: null, userAgent: "console", requestId: null };
    const by = { ...party, operator: { tenantId: runtime.tenant.id, userId: id } };
    await updateTenant(runtime, own.tenant.id, { settings: () => ({ flow: { lifetime: 600 } }) }, by);
    const author = { kind: "user", id };
    expect((await history())[0].by).toEqual({ ...author, tenant_id: runtime.tenant.id });
    const { status } = await operator.call("DELETE", `/users/${id}`);
    expect([status, (await history())[0].by]).toEqual([204, author]);
    // An account of another tenant that has the same id is another one.
    await runtime.database.write.insert(schema.users).values({ tenantId: other.tenant.id, id });
    expect((await history())[0].by).toEqual(author);
  });

  test("does not grow with changes that change no setting, and keeps the newest 200 versions", async () => {
    await patch({ mfa: { optional: false } });
    const before = await history();
    await patch({ mfa: { optional: false } });
    await own.call("PATCH", "/tenant", { name: "Acme Stores" });
    expect(await history()).toEqual(before);
    const [row] = await runtime.database.read
      .select()
      .from(settingsHistory)
      .where(eq(settingsHistory.id, before[0].id));
    if (!row) throw new Error("there is no version");
    const copies = Array.from({ length: 250 }, (_, number) => ({
      ...row,
      id: randomUUID(),
      createdAt: new Date(number),
    }));
    await runtime.database.write.insert(settingsHistory).values(copies);
    const last = await patch({ mfa: { optional: true } });
    expect(
      await runtime.database.read.$count(settingsHistory, eq(settingsHistory.tenantId, own.tenant.id)),
    ).toBe(200);
    expect((await history())[0].created_at).toBe(last.body.updated_at);
    await runtime.database.write
      .update(settingsHistory)
      .set({ characters: 4_000_001 })
      .where(eq(settingsHistory.tenantId, own.tenant.id));
    await patch({ mfa: { optional: false } });
    const left = await runtime.database.read
      .select({ at: settingsHistory.createdAt })
      .from(settingsHistory)
      .where(eq(settingsHistory.tenantId, own.tenant.id))
      .orderBy(desc(settingsHistory.createdAt));
    expect(left).toHaveLength(2);
  });

  test("A319 tells the beginning of a long value, and a hundred of many changes, of any characters", async () => {
    const paths = textPaths.filter((path) => faultsOfWords({ en: { [path]: "x" } }).length === 0);
    const texts = Object.fromEntries(paths.slice(0, 150).map((path) => [path, "\u{1F600}".repeat(250)]));
    await updateTenant(runtime, own.tenant.id, { settings: () => ({ words: { en: texts } }) });
    const [{ changes }] = await history();
    expect(changes).toHaveLength(100);
    for (const { after } of changes) expect(after).toMatch(/^"(?:\u{1F600}){249}\uFFFD…$/u);
  });

  test("ends with the tenant", async () => {
    await patch({ mfa: { optional: false } });
    await operator.call("DELETE", `/tenants/${own.tenant.id}?with_users=true`);
    expect(
      await runtime.database.read.$count(settingsHistory, eq(settingsHistory.tenantId, own.tenant.id)),
    ).toBe(0);
  });
});

describe("the list of settings", () => {
  type Setting = Record<string, unknown> & { name: string };
  const listed = async (as: AdminOperator, path = "/tenant/settings") => {
    const { status, body } = await as.call("GET", path);
    expect(status).toBe(200);
    return Object.fromEntries((body as Setting[]).map((setting) => [setting.name, setting]));
  };

  test("says of each what it means, its value, where that comes from, its bounds, and who sets it", async () => {
    await patch({ password: { min_length: 12 } });
    const settings = await listed(own);
    expect(settings["password.min_length"]).toEqual({
      name: "password.min_length",
      variable: "STILE_PASSWORD_MIN_LENGTH",
      description: expect.stringMatching(/./),
      default: 8,
      value: 12,
      source: "tenant",
      set_by: "tenant",
      secret: false,
      bounds: [
        { name: "password.min_length", kind: "number", min: 8, max: expect.any(Number), set_by: "tenant" },
      ],
    });
    expect(settings["flow.lifetime"]).toMatchObject({ value: 1800, source: "environment" });
    expect(settings["mfa.optional"]).toMatchObject({ value: true, source: "default" });
    expect(settings["service.name"]).toMatchObject({ value: "Acme", source: "derived" });
    expect(settings["session.cookie.name"]).toMatchObject({ set_by: "operator" });
    const cookie = await listed(own, "/tenant/settings?section=session.cookie");
    expect(Object.keys(cookie)).toContain("session.cookie.name");
    expect(Object.keys(cookie).filter((name) => !name.startsWith("session.cookie."))).toEqual([]);
    expect(Object.keys(await listed(own, "/tenant/settings?section=data_dir"))).toEqual(["data_dir"]);
    expect(await listed(own, "/tenant/settings?section=sess")).toEqual({});
    expect(await listed(operator, `/tenants/${own.tenant.id}/settings`)).toMatchObject({
      "password.min_length": { value: 12 },
    });
  });

  test("A319 tells no secret, and no setting of the server to the key of a tenant", async () => {
    const custom = {
      acme: { display_name: "Acme", client_id: "x", secret: "hush hush", scopes: ["openid"] },
    };
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, {
      config: {
        smtp_url: secret,
        third_party: { custom_providers: { acme: { ...custom.acme, issuer: "https://acme.example" } } },
      },
    });
    const settings = await listed(own);
    expect(settings.smtp_url).toMatchObject({ secret: true, source: "tenant" });
    expect(settings.smtp_url).not.toHaveProperty("value");
    expect(settings["third_party.custom_providers"]?.value).toMatchObject({ acme: { client_id: "x" } });
    expect(JSON.stringify(settings)).not.toContain("hush");
    expect(settings.data_dir).toMatchObject({ set_by: "server" });
    expect(settings.data_dir).not.toHaveProperty("value");
    const ofOperator = await listed(operator);
    expect(ofOperator.data_dir?.value).toEqual(expect.any(String));
    for (const name of [
      "secret_keys",
      "database_url",
      "password.pepper",
      "jobs.secret",
      "jobs.cron_secret",
    ]) {
      expect(ofOperator[name]).toMatchObject({ secret: true });
      expect(ofOperator[name]).not.toHaveProperty("value");
    }
  });
});

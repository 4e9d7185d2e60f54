import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { openSettings } from "../../tenants/sealed-settings.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { insertUser } from "../../testing/users.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);

let own: AdminOperator;
let other: AdminOperator;

beforeEach(async () => {
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }));
  other = await adminOperator(
    runtime,
    await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
  );
});

const auditOf = async (tenantId: string, type: string) => {
  const { auditLogs } = schema;
  const rows = await runtime.database.read.select().from(auditLogs).where(eq(auditLogs.tenantId, tenantId));
  return rows.filter((row) => row.type === type).map(({ details }) => details);
};

const stored = async (id: string) => {
  const [row] = await runtime.database.read.select().from(schema.tenants).where(eq(schema.tenants.id, id));
  return row ? { row, settings: openSettings(runtime.vault, id, row) } : null;
};

describe("tenants", () => {
  test("are created, listed, changed and deleted by a key of the default tenant", async () => {
    const id = randomUUID();
    const config = { mfa: { optional: false }, smtp_url: "smtp://user:hush@mail.example" };
    const created = await operator.call("POST", "/tenants", { id, name: "Shop", config });
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const shown = {
      id,
      name: "Shop",
      hosts: [],
      base_url: `http://localhost:3000/t/${id}`,
      default: false,
      config: { mfa: { optional: false } },
      secrets: ["smtp_url"],
      warnings: [],
      created_at: time,
      updated_at: time,
    };
    expect([created.status, created.body]).toEqual([201, shown]);
    expect(created.text).not.toContain("hush");
    expect((await operator.call("GET", `/tenants/${id}`)).body).toEqual(shown);
    const list = await operator.call("GET", "/tenants?per_page=100");
    expect(list.body).toContainEqual(shown);
    expect(list.headers.get("x-total-count")).toBe(String(list.body.length));
    expect(list.text).not.toContain("hush");
    expect((await operator.call("GET", "/tenants?per_page=1&page=2")).body).toHaveLength(1);

    const changed = await operator.call("PATCH", `/tenants/${id}`, {
      name: "Store",
      config: { mfa: { optional: null, enabled: false }, smtp_url: null },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...shown, name: "Store", config: { mfa: { enabled: false } }, secrets: [] },
    ]);
    expect(await auditOf(id, "tenant_changed")).toEqual(
      [
        {
          name: "Store",
          settings: ["mfa.optional", "smtp_url", "mfa.enabled"].sort(),
          api_key: expect.any(String),
        },
      ].map((details) => ({ ...details, settings: expect.arrayContaining(details.settings) })),
    );

    expect(await operator.call("DELETE", `/tenants/${id}`)).toMatchObject({ status: 204, text: "" });
    expect((await operator.call("GET", `/tenants/${id}`)).status).toBe(404);
    const about = { tenant: id, api_key: expect.any(String) };
    expect(await auditOf(runtime.tenant.id, "tenant_created")).toContainEqual(about);
    expect(await auditOf(runtime.tenant.id, "tenant_deleted")).toEqual([about]);
  });

  test("with users are deleted only with their users", async () => {
    const { id } = own.tenant;
    await insertUser({ ...runtime, tenant: own.tenant });
    expect((await operator.call("DELETE", `/tenants/${id}`)).status).toBe(409);
    expect((await operator.call("DELETE", `/tenants/${id}?with_users=true`)).status).toBe(204);
    expect(await stored(id)).toBeNull();
    expect((await own.call("GET", "/tenant")).status).toBe(404);
  });

  test("are changed concurrently without losing a change", async () => {
    const { id } = own.tenant;
    const patches = [
      { mfa: { optional: false } },
      { mfa: { acquire_on_login: true } },
      { email: { limit: 3 } },
      { username: { enabled: true } },
      { session: { limit: 2 } },
    ];
    const answers = await Promise.all(
      patches.map((config) => operator.call("PATCH", `/tenants/${id}`, { config })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await stored(id))?.settings).toEqual({
      mfa: { optional: false, acquire_on_login: true },
      email: { limit: 3 },
      username: { enabled: true },
      session: { limit: 2 },
    });
  });

  test("keep secrets that a change does not name", async () => {
    const { id } = own.tenant;
    const google = { client_id: "acme", secret: "hush", enabled: true };
    await operator.call("PATCH", `/tenants/${id}`, { config: { third_party: { providers: { google } } } });
    await operator.call("PATCH", `/tenants/${id}`, { config: { mfa: { optional: false } } });
    expect((await stored(id))?.settings).toMatchObject({ third_party: { providers: { google } } });
    expect(JSON.stringify((await stored(id))?.row.config)).not.toContain("hush");
    expect((await operator.call("GET", `/tenants/${id}`)).body.secrets).toEqual([
      "third_party.providers.google.secret",
    ]);
  });

  test.each([
    [{ config: { nothing: 1 } }, "nothing is not a setting"],
    [{ config: { mfa: { nothing: 1 } } }, "mfa.nothing is not a setting"],
    [{ config: { email: { limit: "many" } } }, "email.limit"],
    [{ config: { port: 1 } }, "port is a setting of the server"],
    [{ config: { audit_log: { retention: "1d" } } }, "audit_log is a setting of the server"],
    [{ config: { mfa: 5 } }, "mfa"],
    [{ config: [] }, "config"],
    [
      { config: { password: { enabled: false }, passkey: { enabled: false }, email: { enabled: false } } },
      "no sign-in",
    ],
    [{ name: "" }, "name must have 1 to 200 characters"],
    [{ name: 5 }, "name"],
    [{ hosts: ["localhost"] }, "localhost is not a host name"],
    [{ hosts: "acme.example" }, "hosts"],
    [{ id: randomUUID() }, "has the unknown member id"],
    [{ tenant_id: "x" }, "has the unknown member tenant_id"],
    [{ config: { constructor: { prototype: { polluted: 1 } } } }, "constructor"],
  ])("A92 reject the change %j with 400, naming what is wrong", async (body, message) => {
    const before = await stored(own.tenant.id);
    const answer = await operator.call("PATCH", `/tenants/${own.tenant.id}`, body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
    expect(await stored(own.tenant.id)).toEqual(before);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each([
    '{"config":{"__proto__":{"polluted":1}}}',
    '{"config":{"mfa":{"optional":false,"optional":true}}}',
    `{"config":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
    `{"config":{${Array.from({ length: 5000 }, (_, at) => `"a${at}":1`).join(",")}}}`,
    '{"name":"\\u0000"}',
    '{"name":"\\ud800"}',
    "[]",
    "{",
  ])("A91 reject the body %.40s with 400", async (body) => {
    expect((await operator.call("PATCH", `/tenants/${own.tenant.id}`, body)).status).toBe(400);
    expect((await operator.call("POST", "/tenants", body)).status).toBe(400);
  });

  test("reject a body that is too large, and settings that would become so", async () => {
    expect((await operator.call("PATCH", "/tenant", "x".repeat(70_000))).status).toBe(413);
    const { id } = own.tenant;
    const statuses: number[] = [];
    const image = `data:image/png;base64,${"A".repeat(65_000)}`;
    const allowed_redirect_urls = Array.from({ length: 100 }, () => `https://a.example/${"x".repeat(230)}`);
    const patches = [
      { theme: { logo: { light: image } } },
      { theme: { logo: { dark: image } } },
      { theme: { favicon: image } },
      { hosted: { allowed_redirect_urls } },
      { third_party: { allowed_redirect_urls } },
      { saml: { allowed_redirect_urls } },
    ];
    for (const config of patches)
      statuses.push((await operator.call("PATCH", `/tenants/${id}`, { config })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 400]);
  });

  test("with an id or a host name of another are 409", async () => {
    const { id } = own.tenant;
    expect((await operator.call("POST", "/tenants", { id, name: "x" })).status).toBe(409);
    const hosts = [`${randomUUID()}.example`];
    expect((await operator.call("PATCH", `/tenants/${id}`, { hosts })).status).toBe(200);
    expect((await operator.call("POST", "/tenants", { name: "x", hosts })).status).toBe(409);
  });

  test("of the configuration is shown, and not changed or deleted", async () => {
    const { id } = runtime.tenant;
    expect((await operator.call("GET", "/tenant")).body).toMatchObject({ id, default: true, config: {} });
    expect((await operator.call("PATCH", "/tenant", { name: "x" })).status).toBe(409);
    expect((await operator.call("DELETE", `/tenants/${id}`)).status).toBe(409);
  });
});

describe("A68 a key of another tenant", () => {
  test("sees and changes its own tenant, by both addresses", async () => {
    const { id } = own.tenant;
    for (const path of ["/tenant", `/tenants/${id}`]) {
      expect((await own.call("GET", path)).body).toMatchObject({ id, name: expect.any(String) });
      const changed = await own.call("PATCH", path, { config: { mfa: { optional: false } } });
      expect([changed.status, changed.body.config]).toEqual([200, { mfa: { optional: false } }]);
    }
    expect((await own.call("GET", "/tenants")).body).toHaveLength(1);
    expect((await own.call("GET", "/tenants")).headers.get("x-total-count")).toBe("1");
  });

  test("gets the answer of an unknown tenant for every other one", async () => {
    for (const id of [other.tenant.id, runtime.tenant.id, randomUUID()]) {
      const answers = [
        await own.call("GET", `/tenants/${id}`),
        await own.call("PATCH", `/tenants/${id}`, { name: "stolen" }),
        await own.call("DELETE", `/tenants/${id}`),
        await own.call("GET", `/tenants/${id}/saml/providers`),
        await own.call("GET", `/tenants/${id}/oauth/providers`),
        await own.call("PATCH", `/tenants/${id}/oauth/providers/google`, { enabled: true }),
        await own.call("DELETE", `/tenants/${id}/oauth/providers/google`),
      ];
      for (const { status, body } of answers)
        expect([status, body]).toEqual([404, { code: 404, message: "Not found." }]);
    }
    expect((await stored(other.tenant.id))?.row.name).toBe("Other");
  });

  test("neither creates nor deletes tenants", async () => {
    expect((await own.call("POST", "/tenants", { name: "x" })).status).toBe(403);
    expect((await own.call("DELETE", `/tenants/${own.tenant.id}`)).status).toBe(403);
    expect(await stored(own.tenant.id)).not.toBeNull();
  });

  test.each([
    [{ hosts: ["login.victim.example"] }, "hosts"],
    [{ config: { smtp_url: "smtp://127.0.0.1:25" } }, "smtp_url"],
    [{ config: { email_delivery: { from_address: "ceo@victim.example" } } }, "email_delivery"],
    [{ config: { sms_delivery: { from: "Bank" } } }, "sms_delivery"],
    [{ config: { phone: { allowed_countries: ["DE"] } } }, "phone.allowed_countries"],
    [{ config: { phone: { enabled: true } } }, "phone.enabled"],
    [{ config: { mfa: { sms: { enabled: true } } } }, "mfa.sms"],
    [{ config: { words: { en: { "sms.sms_login": "{code} {minutes}" } } } }, "words.*.sms*"],
    [{ config: { session: { cookie: { name: "stile" } } } }, "session.cookie"],
    [{ config: { authenticator: { push_url: "http://169.254.169.254/" } } }, "authenticator.push_url"],
    [
      {
        config: {
          third_party: {
            custom_providers: { x: { display_name: "x", client_id: "x", issuer: "http://127.0.0.1" } },
          },
        },
      },
      "third_party.custom_providers.*.issuer",
    ],
    [
      {
        config: {
          saml: {
            enabled: true,
            identity_providers: [{ name: "x", domain: "x.example", metadata_url: "http://127.0.0.1" }],
          },
        },
      },
      "saml.identity_providers.*.metadata_url",
    ],
  ])("does not make the operator's change %j of its own tenant", async (body, setting) => {
    const answer = await own.call("PATCH", "/tenant", body);
    expect([answer.status, answer.body.message]).toEqual([
      403,
      expect.stringContaining(`${setting} is set by the operator`),
    ]);
    expect((await operator.call("PATCH", `/tenants/${own.tenant.id}`, body)).status).not.toBe(403);
  });

  test.each([
    [{ sms_delivery: { enabled: false } }, "sms_delivery"],
    [{ phone: { enabled: false } }, "phone.enabled"],
    [{ phone: { allowed_countries: [] } }, "phone.allowed_countries"],
    [{ mfa: { sms: { enabled: false } } }, "mfa.sms"],
  ])(
    "does not remove %j, by which the operator keeps it from SMS that the server would pay",
    async (config, setting) => {
      const [[section = ""]] = Object.entries(config) as [[string, unknown]];
      expect((await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config })).status).toBe(200);
      const answer = await own.call("PATCH", "/tenant", { config: { [section]: null } });
      expect([answer.status, answer.body.message]).toEqual([
        403,
        expect.stringContaining(`${setting} is set by the operator`),
      ]);
      await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { [section]: null } });
    },
  );

  test("keeps and removes what the operator has set", async () => {
    const { id } = own.tenant;
    const config = { smtp_url: "smtp://mail.example", email_delivery: { from_name: "Acme" } };
    await operator.call("PATCH", `/tenants/${id}`, { config });
    expect((await own.call("PATCH", "/tenant", { config: { mfa: { optional: false } } })).status).toBe(200);
    expect((await own.call("PATCH", "/tenant", { config: { smtp_url: "smtp://x.example" } })).status).toBe(
      403,
    );
    expect((await own.call("PATCH", "/tenant", { config: { smtp_url: null } })).status).toBe(200);
    expect((await stored(id))?.settings).toEqual({
      email_delivery: { from_name: "Acme" },
      mfa: { optional: false },
    });
  });
});

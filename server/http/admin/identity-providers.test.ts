import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { openSettings } from "../../tenants/sealed-settings.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);

let own: AdminOperator;
let prefix: string;

beforeEach(async () => {
  const settings = { saml: { enabled: true } };
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings }));
  prefix = `/tenants/${own.tenant.id}`;
});

const settingsOf = async ({ tenant: { id } }: AdminOperator) => {
  const [row] = await runtime.database.read.select().from(schema.tenants).where(eq(schema.tenants.id, id));
  return row && openSettings(runtime.vault, id, row);
};

const metadata = "<EntityDescriptor/>";

describe("SAML providers", () => {
  const provider = (domain = "acme.example") => ({ name: "Acme", domain, metadata });

  test("are added, listed, replaced, changed and deleted", async () => {
    const path = `${prefix}/saml/providers`;
    const body = { name: "Acme", domain: "acme.example", metadata_url: "https://id.acme.example/metadata" };
    const created = await operator.call("POST", path, body);
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toMatchObject({
      ...body,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      enabled: true,
      skip_email_verification: false,
    });
    expect((await operator.call("GET", path)).body).toEqual([created.body]);
    expect((await own.call("GET", `/saml/providers/${id}`)).body).toEqual(created.body);
    const replaced = await operator.call("PUT", `${path}/${id}`, {
      ...body,
      enabled: false,
      attribute_map: { email: "mail" },
    });
    expect([replaced.status, replaced.body]).toEqual([
      200,
      { ...created.body, enabled: false, attribute_map: { email: "mail" } },
    ]);
    const changed = await own.call("PATCH", `/saml/providers/${id}`, {
      name: "New",
      attribute_map: { email: null },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...created.body, name: "New", enabled: false, attribute_map: {} },
    ]);
    expect((await own.call("DELETE", `/saml/providers/${id}`)).status).toBe(204);
    expect((await operator.call("GET", path)).body).toEqual([]);
    expect((await operator.call("DELETE", `${path}/${id}`)).status).toBe(404);
  });

  test("keep their id and place when their domain changes, also those of the settings", async () => {
    await operator.call("PATCH", prefix, {
      config: { saml: { identity_providers: [provider("a.example"), provider("b.example")] } },
    });
    const [first, second] = (await own.call("GET", "/saml/providers")).body;
    expect(first.id).not.toBe(second.id);
    await own.call("PATCH", `/saml/providers/${first.id}`, { domain: "c.example" });
    const after = (await own.call("GET", "/saml/providers")).body;
    expect(after.map(({ id, domain }: { id: string; domain: string }) => [id, domain])).toEqual([
      [first.id, "c.example"],
      [second.id, "b.example"],
    ]);
  });

  test("lose nothing to concurrent changes", async () => {
    const domains = ["a.example", "b.example", "c.example", "d.example"];
    const made = await Promise.all(
      domains.map((domain) => own.call("POST", "/saml/providers", provider(domain))),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const [{ id }] = made.map(({ body }) => body);
    const patches = [
      { name: "New" },
      { enabled: false },
      { satisfies_mfa: true },
      { skip_email_verification: true },
    ];
    await Promise.all(patches.map((patch) => own.call("PATCH", `/saml/providers/${id}`, patch)));
    const after = (await own.call("GET", "/saml/providers")).body;
    expect(after).toHaveLength(4);
    expect(after.find((one: { id: string }) => one.id === id)).toMatchObject(Object.assign({}, ...patches));
  });

  test("are 409 for a domain, entity id or metadata address of another, and 403 where SAML is off", async () => {
    const path = `${prefix}/saml/providers`;
    const url = "https://id.example/metadata";
    await operator.call("POST", path, { ...provider(), entity_id: "urn:acme", metadata_url: url });
    for (const twice of [
      provider(),
      { ...provider("b.example"), domains: ["acme.example"] },
      { ...provider("b.example"), entity_id: "urn:acme" },
      { ...provider("b.example"), metadata_url: url },
    ])
      expect((await operator.call("POST", path, twice)).status).toBe(409);
    await operator.call("PATCH", prefix, { config: { saml: { enabled: false } } });
    expect((await operator.call("GET", path)).status).toBe(403);
    expect((await operator.call("POST", path, provider("b.example"))).status).toBe(403);
  });

  test.each([
    {},
    { name: "x" },
    { name: "x", domain: "x.example" },
    { name: "x", metadata },
    { name: "x", domain: "X.example", metadata },
    { name: "x", domain: "x.example", metadata, id: randomUUID() },
    { name: "x", domain: "x.example", metadata, tenant_id: "x" },
    { name: "x", domain: "x.example", metadata, attribute_map: { nothing: "x" } },
    { name: "x", domain: "x.example", metadata_url: "javascript:alert(1)" },
  ])("A92 reject %j with 400", async (body) => {
    expect((await operator.call("POST", `${prefix}/saml/providers`, body)).status).toBe(400);
  });

  test.each([
    { domain: 5 },
    { domains: 5 },
    { domains: "x" },
    { name: null },
    { domain: null },
    { nothing: 1 },
    [],
  ])("A93 reject the change %j with 400", async (patch) => {
    const { body } = await own.call("POST", "/saml/providers", provider());
    expect((await own.call("PATCH", `/saml/providers/${body.id}`, patch)).status).toBe(400);
    expect((await own.call("GET", `/saml/providers/${body.id}`)).body).toEqual(body);
  });

  test("fetch metadata only from addresses that the operator has set", async () => {
    const body = { name: "x", domain: "x.example", metadata_url: "http://127.0.0.1/" };
    expect((await own.call("POST", "/saml/providers", body)).status).toBe(403);
    expect((await own.call("GET", "/saml/providers")).body).toEqual([]);
  });

  test("of the default tenant are those of the configuration, and not changed here", async () => {
    const server = "/saml/providers";
    expect((await operator.call("GET", server)).status).toBe(403);
    expect((await operator.call("POST", server, provider())).status).toBe(409);
  });

  test("A68 of another tenant are unknown", async () => {
    const other = await adminOperator(
      runtime,
      await createTenant(runtime, { name: "B", hosts: [], settings: { saml: { enabled: true } } }),
    );
    const { body } = await own.call("POST", "/saml/providers", provider());
    for (const path of [`${prefix}/saml/providers/${body.id}`, `/saml/providers/${body.id}`]) {
      expect((await other.call("GET", path)).status).toBe(404);
      expect((await other.call("PUT", path, provider("b.example"))).status).toBe(404);
      expect((await other.call("PATCH", path, { name: "x" })).status).toBe(404);
      expect((await other.call("DELETE", path)).status).toBe(404);
    }
    expect((await own.call("GET", "/saml/providers")).body).toEqual([body]);
  });
});

describe("OAuth providers", () => {
  test("are the seven built-in ones, off until they are configured", async () => {
    const { body } = await own.call("GET", "/oauth/providers");
    expect(body.map(({ id }: { id: string }) => id)).toEqual([
      "apple",
      "discord",
      "facebook",
      "github",
      "google",
      "linkedin",
      "microsoft",
    ]);
    expect(body[4]).toEqual({ id: "google", custom: false, enabled: false, settings: {}, secrets: [] });
    const google = { enabled: true, client_id: "acme", secret: "hush" };
    const changed = await own.call("PATCH", "/oauth/providers/google", google);
    const shown = {
      id: "google",
      custom: false,
      enabled: true,
      settings: { enabled: true, client_id: "acme" },
      secrets: ["secret"],
    };
    expect([changed.status, changed.body]).toEqual([200, shown]);
    expect((await operator.call("GET", `${prefix}/oauth/providers/google`)).body).toEqual(shown);
    expect(await settingsOf(own)).toMatchObject({ third_party: { providers: { google } } });
    expect((await own.call("DELETE", "/oauth/providers/google")).status).toBe(204);
    expect((await own.call("GET", "/oauth/providers/google")).body).toMatchObject({
      enabled: false,
      secrets: [],
    });
  });

  test("of Microsoft are changed to sign in the users of one directory", async () => {
    const path = "/oauth/providers/microsoft";
    const changed = await own.call("PATCH", path, { tenant: "organizations" });
    expect([changed.status, changed.body.settings]).toEqual([200, { tenant: "organizations" }]);
    expect((await own.call("PATCH", path, { tenant: null })).body.settings).toEqual({});
  });

  test("of the tenant's own are added by the operator, changed, and deleted", async () => {
    const path = `${prefix}/oauth/providers`;
    const settings = {
      display_name: "Acme",
      client_id: "c",
      secret: "hush",
      issuer: "https://id.acme.example",
    };
    const created = await operator.call("POST", path, { id: "custom_acme", settings });
    const { secret: _, ...plain } = settings;
    const shown = { id: "custom_acme", custom: true, enabled: true, settings: plain, secrets: ["secret"] };
    expect([created.status, created.body]).toEqual([201, shown]);
    expect((await operator.call("POST", path, { id: "custom_acme", settings })).status).toBe(409);
    const changed = await own.call("PATCH", "/oauth/providers/custom_acme", { enabled: false });
    expect(changed.body).toEqual({ ...shown, enabled: false, settings: { ...plain, enabled: false } });
    const moved = await own.call("PATCH", "/oauth/providers/custom_acme", { issuer: "http://127.0.0.1" });
    expect(moved.status).toBe(403);
    const added = await own.call("POST", "/oauth/providers", { id: "custom_b", settings });
    expect(added.status).toBe(403);
    expect((await own.call("DELETE", "/oauth/providers/custom_acme")).status).toBe(204);
    expect((await own.call("GET", "/oauth/providers/custom_acme")).status).toBe(404);
  });

  test("lose nothing to concurrent changes", async () => {
    const ids = ["google", "github", "discord", "facebook"];
    const google = { client_id: "c", secret: "s", enabled: true };
    await Promise.all(ids.map((id) => own.call("PATCH", `/oauth/providers/${id}`, google)));
    await Promise.all([
      own.call("PATCH", "/oauth/providers/google", { prompt: "login" }),
      own.call("PATCH", "/oauth/providers/google", { allow_linking: false }),
    ]);
    const { third_party } = (await settingsOf(own)) as { third_party: object };
    expect(third_party).toEqual({
      providers: {
        ...Object.fromEntries(ids.map((id) => [id, google])),
        google: { ...google, prompt: "login", allow_linking: false },
      },
    });
  });

  test.each([
    ["PATCH", "/oauth/providers/google", { enabled: true }, 400],
    ["PATCH", "/oauth/providers/google", { nothing: 1 }, 400],
    ["PATCH", "/oauth/providers/google", { client_id: 5 }, 400],
    ["PATCH", "/oauth/providers/google", [], 400],
    ["PATCH", "/oauth/providers/nothing", {}, 404],
    ["PATCH", "/oauth/providers/custom_nothing", {}, 404],
    ["PATCH", "/oauth/providers/__proto__", {}, 404],
    ["PATCH", "/oauth/providers/custom___proto__", {}, 404],
    ["PATCH", "/oauth/providers/custom_constructor", {}, 404],
    ["DELETE", "/oauth/providers/custom_constructor", undefined, 404],
    ["GET", "/oauth/providers/constructor", undefined, 404],
    ["POST", "/oauth/providers", { id: "google", settings: {} }, 400],
    ["POST", "/oauth/providers", { id: "custom___proto__", settings: {} }, 400],
    ["POST", "/oauth/providers", { id: "custom_x", settings: {} }, 400],
    ["POST", "/oauth/providers", { id: "custom_x" }, 400],
    ["GET", "/saml/providers/x", undefined, 400],
  ])("answers %s %s %j with %i", async (method, path, body, status) => {
    const before = await settingsOf(own);
    expect((await own.call(method, path, body)).status).toBe(status);
    expect(await settingsOf(own)).toEqual(before);
  });
});

import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenantMail } from "../mail/tenant-mail.ts";
import { type AdminOperator, adminOperator } from "../testing/admin-operator.ts";
import { openForTests, runtimeForTests } from "../testing/open-for-tests.ts";
import { startSmtp } from "../testing/smtp.ts";
import { createTenant } from "./manage-tenants.ts";

const runtime = await runtimeForTests();
const smtp = await openForTests(startSmtp());
const operator = await adminOperator(runtime);

let own: AdminOperator;

beforeEach(async () => {
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }));
});

const phishing = "Your account is locked. Unlock it at https://evil.example";
const nameOf = async (id: string) => (await runtime.tenants.byId(id))?.config.service.name;

describe("A142 the name of a tenant", () => {
  test.each([
    phishing,
    "x".repeat(50_000),
    "evil.example",
    "Acme\r\nBcc: x@y",
    "Acme \u202e",
    "",
    "help@evil",
  ])("cannot be %.40j, as its own or as that of its service, and nothing is stored", async (name) => {
    const attempts = [{ config: { service: { name } } }, { name }, { name, config: { service: {} } }];
    for (const attempt of attempts) {
      const { status, body } = await own.call("PATCH", "/tenant", attempt);
      expect([status, body.message]).toEqual([400, expect.stringMatching(/name/)]);
    }
    expect(await nameOf(own.tenant.id)).toBe("Acme");
    expect((await own.call("GET", "/tenant")).body).toMatchObject({ name: "Acme", config: {}, warnings: [] });
  });

  test("may be a host name beside another name of its service", async () => {
    const config = { service: { name: "Acme Login" } };
    const { status } = await own.call("PATCH", "/tenant", { name: "acme.example", config });
    expect([status, await nameOf(own.tenant.id)]).toEqual([200, "Acme Login"]);
    expect((await own.call("PATCH", "/tenant", { config: { service: null } })).status).toBe(400);
  });

  test.each([
    [
      { name: phishing, config: {} },
      "Stile",
      /^the tenant's name must not contain .*; pages and mails say Stile$/,
    ],
    [
      { name: "Acme", config: { service: { name: phishing } } },
      "Acme",
      /^STILE_SERVICE_NAME .*; it is ignored$/,
    ],
    [
      { name: "Acme", config: { service: { name: "x".repeat(50_000) } } },
      "Acme",
      /1 to 64 characters; it is ignored$/,
    ],
  ])("from before there were bounds is not in its mails: %.90j", async (row, name, warning) => {
    const { id } = own.tenant;
    const config = { ...row.config, smtp_url: smtp.url };
    await runtime.database.write
      .update(schema.tenants)
      .set({ ...row, config, updatedAt: new Date(Date.now() + 1_000) })
      .where(eq(schema.tenants.id, id));
    runtime.tenants.forget();
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the tenant is not found");
    const mail = createTenantMail(runtime.tenant, runtime.database);
    const { from, write, transport } = mail.of(tenant);
    const rendered = write({ type: "login", code: "123456", ttlSeconds: 300 }, "en");
    const to = `${randomUUID()}@example.com`;
    await transport.send({ id: randomUUID(), from, to, ...rendered }, AbortSignal.timeout(60_000));
    mail.close();
    const received = await smtp.waitFor(to);
    expect(received.from?.value[0]?.name).toBe(name);
    expect(received.headerLines.map(({ line }) => line).join("\n")).not.toMatch(/evil|xxxx/);
    expect(`${received.subject} ${received.text} ${received.html}`).not.toMatch(/evil|xxxx/);
    expect((await own.call("GET", "/tenant")).body.warnings).toEqual([expect.stringMatching(warning)]);
    // The row stays as it is, and other settings can be changed.
    expect((await own.call("PATCH", "/tenant", { config: { mfa: { optional: true } } })).status).toBe(200);
  });

  test("that the operator has pinned is the operator's, in each way to change it", async () => {
    const path = `/tenants/${own.tenant.id}`;
    const pinned = { service: { name: "Acme Login", name_pinned: true } };
    expect((await own.call("PATCH", "/tenant", { config: pinned })).status).toBe(403);
    expect((await operator.call("PATCH", path, { config: pinned })).status).toBe(200);
    for (const config of [
      { service: { name: "Other" } },
      { service: { name: null } },
      { service: { name_pinned: null } },
      { service: { name_pinned: false } },
      { service: null },
    ])
      expect((await own.call("PATCH", "/tenant", { config })).status).toBe(403);
    expect(
      (await own.call("PATCH", "/tenant", { name: "Label", config: { mfa: { optional: true } } })).status,
    ).toBe(200);
    expect(await nameOf(own.tenant.id)).toBe("Acme Login");
    expect((await operator.call("PATCH", path, { config: { service: { name: null } } })).status).toBe(200);
    expect((await own.call("PATCH", "/tenant", { name: "Other" })).status).toBe(403);
    expect((await operator.call("PATCH", path, { config: { service: null } })).status).toBe(200);
    expect((await own.call("PATCH", "/tenant", { name: "Other" })).status).toBe(200);
    expect(await nameOf(own.tenant.id)).toBe("Other");
  });

  test("is the operator's for every tenant if the configuration of the server pins it", async () => {
    const everywhere = runtime.configured({ STILE_SERVICE_NAME_PINNED: "true" });
    const acme = await adminOperator(everywhere, own.tenant);
    const change = { config: { service: { name: "Other" } } };
    expect((await acme.call("PATCH", "/tenant", change)).status).toBe(403);
    const root = await adminOperator(everywhere);
    expect((await root.call("PATCH", `/tenants/${own.tenant.id}`, change)).status).toBe(200);
  });
});

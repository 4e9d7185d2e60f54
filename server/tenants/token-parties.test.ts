import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { audienceOf, issuerOf } from "../sessions/session-claims.ts";
import { type AdminOperator, adminOperator } from "../testing/admin-operator.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { createTenant } from "./manage-tenants.ts";

const runtime = await runtimeForTests({
  BASE_URL: "https://login.example.com",
  STILE_SERVER_HOSTS: "sso.example.com",
  STILE_WEBAUTHN_RELYING_PARTY_ID: "example.com",
});
const operator = await adminOperator(runtime);

const victimHost = `victim-${randomUUID()}.example`;
const victimParty = `party-${randomUUID()}.example`;
const ownHost = `acme-${randomUUID()}.example`;
const webauthn = { relying_party: { id: victimParty } };
const victim = await createTenant(runtime, {
  name: "Victim",
  hosts: [`login.${victimParty}`, victimHost],
  settings: { webauthn },
});
const other = await createTenant(runtime, { name: "Other", hosts: [], settings: {} });
const hosted = await createTenant(runtime, { name: "Hosted", hosts: [ownHost], settings: {} });
const own = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }),
);

const patch = (caller: AdminOperator, id: string, config: object) =>
  caller.call("PATCH", `/tenants/${id}`, { config });

/** Values that name another tenant, or the service beside this tenant. */
const foreign = () => [
  `https://${victimHost}`,
  `https://${victimHost.toUpperCase()}/x`,
  `https://${victimHost}:8443`,
  victimHost,
  `${victimHost}.`,
  victim.id,
  other.id.toUpperCase(),
  "https://login.example.com",
  `https://login.example.com/t/${other.id}`,
  "login.example.com",
  "sso.example.com",
  // The default audiences of the service and of the other tenant.
  "example.com",
  victimParty,
];

describe("A146 the tokens of a tenant", () => {
  test("never have another tenant or the service as audience, also if the operator sets it", async () => {
    for (const value of foreign())
      for (const caller of [own, operator])
        for (const audience of [[value], ["https://app.example.net", value]]) {
          const { status, body } = await patch(caller, own.tenant.id, { session: { audience } });
          expect([value, status, body.message]).toEqual([
            value,
            400,
            expect.stringContaining("session.audience"),
          ]);
        }
    const { body } = await own.call("GET", "/tenant");
    expect(body.config).toEqual({});
  });

  test("never have another tenant or the service as issuer, and another address from the operator alone", async () => {
    for (const issuer of foreign()) {
      expect((await patch(own, own.tenant.id, { session: { issuer } })).status).toBeGreaterThanOrEqual(400);
      expect((await patch(operator, own.tenant.id, { session: { issuer } })).status).toBe(400);
    }
    const elsewhere = { session: { issuer: "https://issuer.acme.example" } };
    expect((await patch(own, own.tenant.id, elsewhere)).status).toBe(403);
    expect((await patch(operator, own.tenant.id, elsewhere)).status).toBe(200);
    // What the operator has set, the tenant keeps or removes.
    expect((await patch(own, own.tenant.id, { ...elsewhere, mfa: { optional: true } })).status).toBe(200);
    expect((await patch(own, own.tenant.id, { session: { issuer: null } })).status).toBe(200);
    expect((await patch(own, own.tenant.id, elsewhere)).status).toBe(403);
  });

  test("may have the tenant's own address, its id, and every other audience", async () => {
    const base = `https://login.example.com/t/${own.tenant.id}`;
    const session = {
      issuer: base,
      audience: [base, own.tenant.id, "https://api.acme.example", "urn:acme", "acme"],
    };
    expect((await patch(own, own.tenant.id, { session })).status).toBe(200);
    const hostedSession = { issuer: `https://${ownHost}`, audience: [ownHost, `https://${ownHost}/api`] };
    const { status, body } = await patch(operator, hosted.id, { session: hostedSession });
    expect([status, body.warnings]).toEqual([200, []]);
  });

  test("do not have another tenant's host name by a relying party", async () => {
    const relying_party = { id: victimHost, origins: [`https://${victimHost}`] };
    const { status, body } = await patch(operator, hosted.id, {
      session: { audience: null },
      webauthn: { relying_party },
    });
    expect([status, body.message]).toEqual([400, expect.stringContaining("webauthn.relying_party.id")]);
  });

  test("have the defaults where a row from before names others, with one warning for each", async () => {
    const { id } = await createTenant(runtime, { name: "Old", hosts: [], settings: {} });
    const session = {
      issuer: `https://${victimHost}`,
      audience: [victimHost, "login.example.com", "https://api.old.example"],
    };
    await runtime.database.write
      .update(schema.tenants)
      .set({ config: { session }, updatedAt: new Date(Date.now() + 1_000) })
      .where(eq(schema.tenants.id, id));
    runtime.tenants.forget();
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the tenant is not found");
    expect(issuerOf(tenant)).toBe(`https://login.example.com/t/${id}`);
    expect(audienceOf(tenant)).toEqual(["https://api.old.example"]);
    const old = await adminOperator(runtime, tenant);
    const { body } = await old.call("GET", "/tenant");
    expect(body.warnings).toEqual([
      "session.issuer: must not name another tenant or another address of this service; it is ignored",
      ...Array.from({ length: 2 }, () => expect.stringMatching(/^session.audience: .* ignored$/)),
    ]);
    expect((await old.call("PATCH", "/tenant", { config: { mfa: { optional: true } } })).status).toBe(200);
  });

  test("have the default from when another tenant gets the host name that they named", async () => {
    const host = `later-${randomUUID()}.example`;
    const { id } = await createTenant(runtime, {
      name: "Early",
      hosts: [],
      settings: { session: { audience: [host] } },
    });
    const audience = async () => audienceOf((await runtime.tenants.byId(id)) as Tenant);
    expect(await audience()).toEqual([host]);
    await createTenant(runtime, { name: "Later", hosts: [host], settings: {} });
    expect(await audience()).toEqual([id]);
  });
});

import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { Cli, Command } from "../command.ts";
import { passkeyUsersDelete } from "./application-users.ts";
import { keysCreate, keysDelete } from "./keys.ts";
import { secretsReseal } from "./secrets.ts";
import { tenantsCreate, tenantsDelete, tenantsUpdate } from "./tenants.ts";

const runtime = await runtimeForTests();

beforeEach(() => runtime.database.write.delete(schema.auditLogs));

/** Runs a command on the database of the test, and returns the lines that it prints. */
async function run(command: Command, values: Record<string, unknown>, positionals: string[] = []) {
  const printed: string[] = [];
  const cli = {
    print: async (line: string) => void printed.push(line),
    printError() {},
    config: () => runtime.config,
    withRuntime: (work: (with_: typeof runtime) => Promise<unknown>) => work(runtime),
  } as unknown as Cli;
  await command.run(cli, { host: [], ...values }, positionals);
  return printed;
}

const entries = async () => {
  const rows = await runtime.database.read.select().from(schema.auditLogs);
  return rows.map(({ tenantId, type, details, ipAddress, userAgent }) => {
    expect([ipAddress, userAgent]).toEqual([null, "stile"]);
    return [tenantId, type, details];
  });
};

test("records what the command does with tenants and keys", async () => {
  const server = runtime.tenant.id;
  const [id = ""] = await run(tenantsCreate, { name: "Acme" });
  await run(tenantsUpdate, { name: "Other", host: ["other.example"] }, [id]);
  const [key = ""] = await run(keysCreate, { interface: "admin", name: "app", json: true });
  const { id: keyId } = JSON.parse(key);
  await run(keysDelete, {}, [keyId]);
  expect(await entries()).toEqual([
    [server, "tenant_created", { tenant: id }],
    [id, "tenant_changed", { name: "Other", hosts: ["other.example"], settings: [] }],
    [server, "api_key_created", { key: keyId, interface: "admin", name: "app" }],
    [server, "api_key_deleted", { key: keyId, interface: "admin", name: "app" }],
  ]);
  await runtime.database.write.delete(schema.auditLogs);
  await run(tenantsDelete, { "with-users": false }, [id]);
  expect(await entries()).toEqual([[server, "tenant_deleted", { tenant: id }]]);
});

test("records that secrets were resealed, and a deleted user of the passkey server", async () => {
  await runtime.database.write.insert(schema.passkeyUsers).values({
    tenantId: runtime.tenant.id,
    id: randomUUID(),
    userId: "ada",
    name: "ada",
    displayName: "Ada",
  });
  await run(secretsReseal, {});
  await run(passkeyUsersDelete, {}, ["ada"]);
  expect(await entries()).toEqual([
    [runtime.tenant.id, "secrets_resealed", { key: expect.any(String), moved: expect.any(Number) }],
    [runtime.tenant.id, "webauthn_user_deleted", { actor_user_id: "ada" }],
  ]);
});

test("records nothing for a command that fails", async () => {
  await expect(run(tenantsCreate, { name: " " })).rejects.toThrow("name");
  await expect(run(tenantsDelete, {}, [randomUUID()])).rejects.toThrow("there is no tenant");
  await expect(run(keysDelete, {}, [randomUUID()])).rejects.toThrow("there is no key");
  await expect(run(passkeyUsersDelete, {}, ["unknown"])).rejects.toThrow("there is no user");
  expect(await entries()).toEqual([]);
});

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { writeGrant } from "../../console/grants.ts";
import { type ConsoleRole, consoleRoles } from "../../identity/console-roles.ts";
import { lockUser } from "../../identity/lock-user.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { callConsole, consoleAccount } from "../../testing/console-account.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { visitor } from "../../testing/visitor.ts";
import { waitsForLock } from "../../testing/waits-for-lock.ts";
import { consoleOperations } from "./call.ts";

/** Who may call what: every procedure, by every role, at its own tenant and at another one. */

const runtime = await runtimeForTests();
const tenantNamed = async (name: string) => {
  const { id } = await createTenant(runtime, { name, hosts: [], settings: {} });
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the tenant is missing");
  return tenant;
};
const [own, other] = [await tenantNamed("Acme"), await tenantNamed("Other")];

/** Beside these, an auditor reads and an administrator changes. */
const exceptions: Record<string, ConsoleRole> = {
  endUserSession: "support",
  endUserSessions: "support",
  unblockUser: "support",
  offerUserRecovery: "support",
  createTenant: "operator",
  deleteTenant: "operator",
  checkSettings: "auditor",
  checkSettingsOfTenant: "auditor",
  dryRunSettings: "auditor",
  dryRunSettingsOfTenant: "auditor",
  exportDryRun: "auditor",
  exportDryRunOfTenant: "auditor",
  ...Object.fromEntries(
    ["checkOAuthProvider", "checkSamlProvider", "getProviderTest"].flatMap((id) => [
      [id, "administrator"],
      [`${id}OfTenant`, "administrator"],
    ]),
  ),
  ...Object.fromEntries(
    ["listSigningKeys", "listSigningKeysOfTenant", "rotateSigningKey", "rotateSigningKeyOfTenant"].map(
      (id) => [id, "operator"],
    ),
  ),
  ...Object.fromEntries(
    ["getSecretKeys", "beginReseal", "listReseals", "getReseal", "cancelReseal"].map((id) => [
      id,
      "operator",
    ]),
  ),
  previewPages: "auditor",
  previewMessages: "auditor",
  replayFlow: "auditor",
};

/** What would lead to the accounts of operators, where these are, or to the network of the server. */
const operatorsAtDefaultTenant = [
  ...["createApiKey", "deleteApiKey"],
  ...["beginImport", "putImportPiece", "startImport", "cancelImport"],
  ...["createWebhook", "updateWebhook", "deleteWebhook", "rotateWebhookSecret", "testWebhook"],
  ...["replayWebhookDelivery", "replayWebhookDeliveries"],
  ...["checkOAuthProvider", "checkSamlProvider", "beginOAuthProviderTest", "beginSamlProviderTest"].flatMap(
    (id) => [id, `${id}OfTenant`],
  ),
];

/** An account of the console signs in as a user instead. */
const forKeysAlone = ["createSession"];

const neededFor = (id: string, isRead: boolean): ConsoleRole =>
  exceptions[id] ?? (isRead ? "auditor" : "administrator");

/** Input that names nothing that exists. */
const inputOf = (segments: string[], tenant: string) => ({
  tenant,
  ...Object.fromEntries(segments.map((name) => [name, randomUUID()])),
});

const operations = [...consoleOperations.values()].map(({ operation, isRead, segments }) => ({
  id: operation.id,
  needed: neededFor(operation.id, isRead),
  segments,
}));

describe.each(consoleRoles)("A330 the role %s", (role) => {
  const isOperator = role === "operator";
  const home = isOperator ? runtime.tenant : own;
  const account = consoleAccount(runtime, role, { tenant: home });

  test.each(operations)("at its own tenant: $id", async ({ id, needed, segments }) => {
    const { reason } = await (await account).call(id, inputOf(segments, home.id));
    const allowed = consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed);
    if (forKeysAlone.includes(id)) expect(reason).toBe("key_required");
    else expect(reason).toBe(allowed ? undefined : "forbidden");
  });

  test.each(operations)("at another tenant: $id", async ({ id, segments }) => {
    const answer = await (await account).call(id, inputOf(segments, other.id));
    const reached = forKeysAlone.includes(id) ? "key_required" : undefined;
    expect(answer.reason).toBe(isOperator ? reached : "not_found");
  });
});

describe.each(["auditor", "support", "administrator"] as const)("A330 the role %s", (role) => {
  const account = consoleAccount(runtime, role);

  test.each(operations)("at the default tenant: $id", async ({ id, needed, segments }) => {
    const { reason } = await (await account).call(id, inputOf(segments, runtime.tenant.id));
    const least = operatorsAtDefaultTenant.includes(id) ? "operator" : needed;
    if (forKeysAlone.includes(id)) expect(reason).toBe("key_required");
    else
      expect(reason).toBe(
        consoleRoles.indexOf(role) >= consoleRoles.indexOf(least) ? undefined : "forbidden",
      );
  });
});

test.each(operations)("A330 without a session nothing is called: $id", async ({ id, segments }) => {
  const answer = await callConsole(visitor(runtime), id, inputOf(segments, own.id));
  expect(answer).toMatchObject({ status: 401, reason: "signed_out" });
});

test.each(operations)("A330 without a role nothing is called: $id", async ({ id, segments }) => {
  const account = await accountWithoutRole;
  expect(await account.call(id, inputOf(segments, own.id))).toMatchObject({ reason: "signed_out" });
});

const accountWithoutRole = consoleAccount(runtime, null, { tenant: own });

test("an administrator of the default tenant reaches no other tenant, nor makes one", async () => {
  const account = await consoleAccount(runtime, "administrator");
  const listed = await account.call("listTenants");
  expect(listed.data.items.map(({ id }: { id: string }) => id)).toEqual([runtime.tenant.id]);
  expect((await account.call("getTenant", { id: other.id })).status).toBe(404);
  expect((await account.call("createTenant", { body: { name: "Mine" } })).reason).toBe("forbidden");
  const key = await account.call("createApiKey", { body: { interface: "admin", name: "way around" } });
  expect(key.reason).toBe("forbidden");
});

test("A331 no account changes one whose role is stronger", async () => {
  const operator = await consoleAccount(runtime, "operator");
  const administrator = await consoleAccount(runtime, "administrator");
  const support = await consoleAccount(runtime, "support");
  const calls: [string, object][] = [
    ["blockUser", { id: operator.userId }],
    ["createUserPassword", { id: operator.userId, body: { password: "a new password for you" } }],
    ["createUserEmail", { id: operator.userId.toUpperCase(), body: { address: "mine@example.com" } }],
    ["deleteUser", { id: operator.userId }],
    ["deleteConsoleRole", { id: operator.userId }],
    ["actOnUsers", { body: { action: "delete", user_ids: [administrator.userId, operator.userId] } }],
  ];
  for (const [procedure, input] of calls)
    expect([procedure, (await administrator.call(procedure, input)).reason]).toEqual([
      procedure,
      "forbidden",
    ]);
  expect((await support.call("endUserSessions", { id: administrator.userId })).reason).toBe("forbidden");
  const promoted = { id: administrator.userId, body: { role: "operator" } };
  expect(await administrator.call("setConsoleRole", promoted)).toMatchObject({ status: 403 });
  expect((await operator.call("setConsoleRole", promoted)).status).toBe(200);
  expect((await administrator.call("me")).data.role).toBe("operator");
});

test("A331 a role that an account is given while a change waits for it counts for the change", async () => {
  const administrator = await consoleAccount(runtime, "administrator");
  const { write } = runtime.database;
  const calls: [string, object][] = [
    ["createUserPassword", { body: { password: "a new password for you" } }],
    ["deleteConsoleRole", {}],
    ["setConsoleRole", { body: { role: "auditor" } }],
  ];
  for (const [procedure, input] of calls) {
    const { userId: id } = await consoleAccount(runtime, null);
    const answer = await write.transaction(async (tx) => {
      await lockUser(tx, runtime.tenant.id, id);
      const called = administrator.call(procedure, { ...input, id });
      await waitsForLock(write.$client);
      await writeGrant(tx, requestContext(runtime, { tenant: runtime.tenant }), id, "operator");
      return () => called;
    });
    expect([procedure, (await answer()).status]).toEqual([procedure, 403]);
    const roles = await administrator.call("listConsoleRoles");
    expect(roles.data).toContainEqual(expect.objectContaining({ user_id: id, role: "operator" }));
  }
});

test("A331 no account verifies an address to which the configuration gives a stronger role", async () => {
  const named = runtime.configured({
    STILE_CONSOLE_ROLES: JSON.stringify({
      "Root@Bücher.example": "operator",
      "help@corp.example": "support",
    }),
  });
  const administrator = await consoleAccount(named, "administrator");
  const root = "root@xn--bcher-kva.example";
  const calls: [string, object][] = [
    ["createUserEmail", { id: administrator.userId, body: { address: root, is_verified: true } }],
    ["createUser", { body: { emails: [{ address: root, is_primary: true, is_verified: true }] } }],
    ["createUser", { body: { emails: [{ address: "root@bücher.example", is_primary: true }] } }],
  ];
  for (const [procedure, input] of calls)
    expect([procedure, (await administrator.call(procedure, input)).reason]).toEqual([
      procedure,
      "forbidden",
    ]);
  const help = { address: "help@corp.example", is_verified: true };
  expect((await administrator.call("createUserEmail", { id: administrator.userId, body: help })).status).toBe(
    200,
  );
  const operator = await consoleAccount(named, "operator");
  const verified = { address: root, is_verified: true };
  expect((await operator.call("createUserEmail", { id: administrator.userId, body: verified })).status).toBe(
    200,
  );
  expect((await administrator.call("me")).data.role).toBe("operator");
});

test("A352 no account marks an address as verified to which the configuration gives a stronger role", async () => {
  const root = `root-${randomUUID()}@corp.example`;
  const help = `help-${randomUUID()}@corp.example`;
  const named = runtime.configured({
    STILE_CONSOLE_ROLES: JSON.stringify({ [root.toUpperCase()]: "operator", [help]: "support" }),
  });
  const administrator = await consoleAccount(named, "administrator");
  const [operator, victim] = [await consoleAccount(named, "operator"), await consoleAccount(named, null)];
  const id = administrator.userId;
  const added = async (address: string) =>
    (await operator.call("createUserEmail", { id, body: { address } })).data.id;
  const [rootId, helpId, plainId] = [
    await added(root),
    await added(help),
    await added(`plain-${randomUUID()}@corp.example`),
  ];
  const verify = (email_id: string, user = id) =>
    administrator.call("verifyUserEmail", { id: user, email_id });
  expect((await verify(rootId)).reason).toBe("forbidden");
  expect((await verify(rootId.toUpperCase())).reason).toBe("forbidden");
  expect((await verify(rootId, victim.userId)).reason).toBe("forbidden");
  expect((await administrator.call("me")).data.role).toBe("administrator");
  expect((await verify(plainId, victim.userId)).status).toBe(404);
  expect(
    (await administrator.call("verifyUserEmail", { id: operator.userId, email_id: plainId })).reason,
  ).toBe("forbidden");
  for (const mine of [helpId, plainId]) expect((await verify(mine)).status).toBe(200);
  const shown = await administrator.call("listUserEmails", { id });
  const verified = shown.data.filter((one: { is_verified: boolean }) => one.is_verified);
  expect(verified.map((one: { id: string }) => one.id)).toEqual(expect.arrayContaining([helpId, plainId]));
  const log = await administrator.call("listAuditLogs", {
    query: { type: ["email_verified"], actor_user_id: id },
  });
  expect(log.data.items[0].details).toMatchObject({ by: "admin" });
  expect((await operator.call("verifyUserEmail", { id, email_id: rootId })).status).toBe(200);
  expect((await administrator.call("me")).data.role).toBe("operator");
});

test("A331 a role counts in its own tenant, also for an account of the same id in another one", async () => {
  const operator = await consoleAccount(runtime, "operator");
  const user = await consoleAccount(runtime, null, { tenant: own });
  const copied = "insert into users (tenant_id, id) values ($1, $2)";
  await runtime.database.write.$client.query(copied, [own.id, operator.userId]);
  await runtime.database.write.$client.query(copied, [runtime.tenant.id, user.userId]);
  const administrator = await consoleAccount(runtime, "administrator", { tenant: own });
  expect((await administrator.call("blockUser", { id: operator.userId })).status).toBe(200);
  expect(
    (await operator.call("setConsoleRole", { id: user.userId, body: { role: "operator" } })).status,
  ).toBe(200);
  expect((await user.call("me")).reason).toBe("signed_out");
  expect((await operator.call("me")).data.role).toBe("operator");
});

test("A332 what the console has changed is in the audit log, with its account, before and after", async () => {
  const administrator = await consoleAccount(runtime, "administrator", { tenant: own });
  const user = await consoleAccount(runtime, null, { tenant: own });
  await administrator.call("blockUser", { id: user.userId });
  const { data } = await administrator.call("listAuditLogs", { query: { type: ["console_changed"] } });
  const [entry] = data.items;
  expect(entry.details).toMatchObject({
    operation: "blockUser",
    of: [user.userId],
    operator: administrator.userId,
    changes: [expect.stringMatching(/^blocked_at: none → "\d{4}-/)],
  });
  await administrator.call("deleteUser", {
    id: (await consoleAccount(runtime, null, { tenant: own })).userId,
  });
  await administrator.call("createApiKey", { body: { interface: "passkeys", name: "a key" } });
  await administrator.call("updateUser", { id: user.userId, body: { name: "Ada Lovelace" } });
  const told = await administrator.call("listAuditLogs", { query: { type: ["console_changed"] } });
  const changes: string[][] = told.data.items.map(
    (one: { details: { changes: string[] } }) => one.details.changes,
  );
  expect(changes.slice(0, 3)).toEqual([
    ["name: none → ***"],
    expect.arrayContaining(['[0].name: none → "a key"']),
    ["deleted"],
  ]);
  expect(JSON.stringify(changes)).not.toContain("stile_");
  const operator = await consoleAccount(runtime, "operator");
  await operator.call("unblockUser", { tenant: own.id, id: user.userId });
  const later = await operator.call("listAuditLogs", {
    tenant: own.id,
    query: { type: ["console_changed"] },
  });
  expect(later.data.items[0].details).toMatchObject({
    operation: "unblockUser",
    operator: operator.userId,
    operator_tenant: runtime.tenant.id,
  });
});

test("A338 a change that would lock an account of the console out asks for a second confirmation", async () => {
  const tenant = await tenantNamed("Locked");
  const administrator = await consoleAccount(runtime, "administrator", { tenant });
  await runtime.database.write.$client.query(
    "insert into passwords (tenant_id, user_id, hash) values ($1, $2, 'x')",
    [tenant.id, administrator.userId],
  );
  const settings = { email: { use_for_authentication: false } };
  const off = { config: { ...settings, password: { enabled: false } } };
  expect((await administrator.call("changeOwnTenant", { body: { config: settings } })).status).toBe(200);
  const refused = await administrator.call("changeOwnTenant", { body: off });
  expect(refused).toMatchObject({ status: 409, message: expect.stringContaining(administrator.userId) });
  const confirmed = { ...off, unless_locked_out: [] };
  expect((await administrator.call("changeOwnTenant", { body: confirmed })).status).toBe(200);
  const { data } = await administrator.call("listSettingsHistory");
  const by = { kind: "user", id: administrator.userId, tenant_id: tenant.id };
  expect(data.items[0].by).toEqual(by);
});

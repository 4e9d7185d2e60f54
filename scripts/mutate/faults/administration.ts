import type { Fault } from "../fault.ts";

/** Faults of the administration interface, tenants, the audit log, the CLI and the import of users. */
export const administrationFaults: readonly Fault[] = [
  {
    name: "an imported passkey loses its user handle",
    file: "server/methods/passkey/moving.ts",
    text: 'return hexOf(handle ? Buffer.from(handle, "base64url") : legacyUserHandle(userId));',
    fault: "return hexOf(legacyUserHandle(userId));",
    caughtBy: ["server/moving/round-trip.test.ts", "server/moving/forms/forms.test.ts"],
  },
  {
    name: "two processes import one input side by side",
    file: "server/moving/import-progress.ts",
    text: ".where(and(ofImport(key), eq(table.records, before.records)))",
    fault: ".where(ofImport(key))",
    caughtBy: ["server/moving/import-users.test.ts"],
  },
  {
    name: "a resumed import reports the refusals of an uncommitted batch twice",
    file: "server/moving/import-report.ts",
    text: "await file.truncate(accepted);",
    fault: "accepted = (await file.stat()).size;",
    caughtBy: ["server/moving/import-users.test.ts"],
  },
  {
    name: "a key of one tenant manages every other",
    file: "server/http/admin/tenants.ts",
    text: "return isOperator(context) ? id : null;",
    fault: "return id;",
    caughtBy: ["server/http/admin/tenants.test.ts"],
  },
  {
    name: "a tenant sets the operator's settings itself",
    file: "server/http/admin/tenants.ts",
    text: "itself: !isOperator(context),",
    fault: "itself: false,",
    caughtBy: ["server/http/admin/tenants.test.ts", "server/http/admin/identity-providers.test.ts"],
  },
  {
    name: "a key deletes keys of another tenant",
    file: "server/tenants/api-keys.ts",
    text: ".where(and(eq(apiKeys.tenantId, tenant.id), eq(apiKeys.id, id)))",
    fault: ".where(eq(apiKeys.id, id))",
    caughtBy: ["server/http/admin/api-keys.test.ts"],
  },
  {
    name: "an export of the audit log repeats the entry between two batches",
    file: "server/audit/audit-log.ts",
    text: "table.id}) > (",
    fault: "table.id}) >= (",
    caughtBy: ["server/http/admin/audit-logs.test.ts"],
  },
  {
    name: "a recorded flow is shown to the operator of another tenant",
    file: "server/recorder/recorded-flows.ts",
    text: ".where(and(eq(flows.tenantId, tenantId), eq(flows.id, flowId)));",
    fault: ".where(eq(flows.id, flowId));",
    caughtBy: ["server/recorder/recorder.test.ts"],
  },
  {
    name: "an input that no action declares is recorded by its name",
    file: "server/flow/inputs.ts",
    text: "return Object.keys(describeInputs(schema).inputs).flatMap((name) => {",
    fault: "return Object.keys({ ...describeInputs(schema).inputs, ...raw }).flatMap((name) => {",
    caughtBy: ["server/recorder/recorder.test.ts"],
  },
  {
    name: "the console tells of entries that are rolled back",
    file: "server/audit/audit.ts",
    text: "afterCommit(tx, print);",
    fault: "print();",
    caughtBy: ["server/audit/audit.test.ts"],
  },
  {
    name: "a required option of a command may be missing",
    file: "server/cli/arguments.ts",
    text: "if (option.required && values[name] === undefined)",
    fault: "if (option.required && values[name] === null)",
    caughtBy: ["server/cli/arguments.test.ts"],
  },
  {
    name: "a tenant may set what is the server's alone",
    file: "server/tenants/tenant-config.ts",
    text: "  if (forbidden)",
    fault: "  if (forbidden === null)",
    caughtBy: ["server/tenants/tenants.test.ts", "server/tenants/tenant-config.test.ts"],
  },
];

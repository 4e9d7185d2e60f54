import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { schema } from "#db/client";
import type { Tree } from "../lib/tree.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { runtimeForTests } from "./open-for-tests.ts";
import { type PasskeyApplication, passkeyApplication } from "./passkey-application.ts";
import type { TestRuntime } from "./runtime.ts";

type AuditLog = typeof schema.auditLogs.$inferSelect;

export interface PasskeySuite {
  runtime: TestRuntime;
  /** An application of the runtime's tenant. */
  application: PasskeyApplication;
  /** Creates another tenant and an application of it; `settings` are the tenant's. */
  newTenant(settings?: Tree): Promise<PasskeyApplication>;
  /** Entries of the runtime's tenant whose detail `name` has the given value, oldest first. */
  auditLogs(name: "actor_user_id" | "credential_id" | "transaction_id", value: string): Promise<AuditLog[]>;
}

/**
 * Starts the runtime that the tests of one file share, and closes it after them. Called at the top of the file.
 *
 * @param settings environment variables
 */
export async function passkeySuite(settings: Record<string, string> = {}): Promise<PasskeySuite> {
  const runtime = await runtimeForTests(settings);
  return {
    runtime,
    application: await passkeyApplication(runtime),
    newTenant: async (settings = {}) =>
      passkeyApplication(runtime, await createTenant(runtime, { name: "Other", hosts: [], settings })),
    async auditLogs(name, value) {
      const { auditLogs: table } = schema;
      const rows = await runtime.database.read
        .select()
        .from(table)
        .where(eq(table.tenantId, runtime.tenant.id))
        .orderBy(table.createdAt);
      return rows.filter(({ details }) => details[name] === value);
    },
  };
}

/** The body of an error of the passkey server. */
export const errorBody = (status: number, title: unknown, details: unknown = expect.any(String)) => ({
  status,
  title,
  details,
});

/** The body of the error of a request whose members are not as described. */
export const invalidRequest = (details: unknown) => errorBody(400, "unable to validate request", details);

import type { OperatorContext } from "../admin/change-user.ts";
import { commandLine } from "../audit/audit.ts";
import type { Tenant } from "../config/tenant.ts";
import type { CliRuntime } from "./cli-runtime.ts";

/**
 * Returns the context in which the CLI changes a user. This process delivers nothing: the server delivers events when it
 * looks for due ones. For changes that cause no mail, because only a started queue can enqueue one.
 */
export function asOperator(runtime: CliRuntime, tenant: Tenant, now: Date): OperatorContext {
  const { database, platform, auditOutput } = runtime;
  return {
    runtime: {
      database,
      platform,
      auditOutput,
      webhooks: { wake() {} },
      jobs: {
        enqueue() {
          throw new Error("this command cannot enqueue jobs");
        },
        wake() {},
      },
    },
    tenant,
    client: commandLine,
    now,
  };
}

import type { Tenant } from "../tenants/tenant.ts";
import { CommandError } from "./command.ts";
import type { ToolRuntime } from "./tool-runtime.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The tenant of this id; without one the default tenant.
 *
 * @throws CommandError when there is none
 */
export async function tenantNamed({ tenant, tenants }: ToolRuntime, id: string | undefined): Promise<Tenant> {
  if (id === undefined) return tenant;
  const named = id.toLowerCase();
  const found = uuid.test(named) ? await tenants.byId(named) : null;
  if (!found) throw new CommandError(`there is no tenant ${id}`);
  return found;
}

import { isCanonicalUuid } from "../lib/uuid.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { CommandError } from "./command.ts";
import type { ToolRuntime } from "./tool-runtime.ts";

/**
 * The tenant of this id; without one the default tenant.
 *
 * @throws CommandError when there is none
 */
export async function tenantNamed({ tenant, tenants }: ToolRuntime, id: string | undefined): Promise<Tenant> {
  if (id === undefined) return tenant;
  const named = id.toLowerCase();
  const found = isCanonicalUuid(named) ? await tenants.byId(named) : null;
  if (!found) throw new CommandError(`there is no tenant ${id}`);
  return found;
}

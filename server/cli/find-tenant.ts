import type { Tenant } from "../config/tenant.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { CliRuntime } from "./cli-runtime.ts";
import { CommandError } from "./command.ts";

/**
 * Finds a tenant by its id; without an id, returns the default tenant.
 *
 * @throws CommandError if no tenant has the id
 */
export async function findTenant({ tenant, tenants }: CliRuntime, id: string | undefined): Promise<Tenant> {
  if (id === undefined) return tenant;
  const canonical = id.toLowerCase();
  const found = isCanonicalUuid(canonical) ? await tenants.byId(canonical) : null;
  if (!found) throw new CommandError(`there is no tenant ${id}`);
  return found;
}

import type { Tree } from "../lib/tree.ts";
import { existingTenant, type ManagementContext } from "./manage-tenants.ts";
import { openSealed, openSettings } from "./sealed-settings.ts";
import { withoutUnknown } from "./unknown-settings.ts";

/**
 * Reads the settings of a tenant that this version knows, secrets included, and the sealed part of what is stored, for
 * `membersToTell`. Those of the default tenant are the configuration of the server, of which nothing is stored.
 *
 * @throws TenantError if the tenant does not exist
 */
export async function settingsToTell(
  context: ManagementContext,
  tenantId: string,
): Promise<{ settings: Tree; sealed: Tree }> {
  const { row, ignored } = await existingTenant(context, tenantId);
  if (tenantId === context.tenant.id) return { settings: { ...context.tenant.config }, sealed: {} };
  return {
    settings: withoutUnknown(openSettings(context.vault, tenantId, row), ignored),
    sealed: openSealed(context.vault, tenantId, row),
  };
}

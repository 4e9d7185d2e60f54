"use client";

import { type ConsoleRole, consoleRoles } from "#server/identity/console-roles";
import { useMe, useTenant } from "../_shell/me.tsx";

/** The roles that the account may give at the shown tenant: none that is stronger than its own. */
export function useOfferedRoles(): ConsoleRole[] {
  const { role, is_default_tenant, tenant } = useMe();
  const shown = useTenant();
  const isDefaultTenant = is_default_tenant && shown === tenant.id;
  return consoleRoles
    .slice(0, consoleRoles.indexOf(role) + 1)
    .filter((name) => name !== "operator" || isDefaultTenant);
}

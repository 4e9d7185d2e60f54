import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { locate } from "../locate.ts";

/**
 * The tenant whose page a browser asks for.
 *
 * @param host the `Host` header
 * @param id the id that the address names; null for an address without one
 * @returns null when there is no such page
 */
export async function pageTenant(
  runtime: Runtime,
  host: string | null,
  id: string | null,
): Promise<Tenant | null> {
  const located = await locate(runtime, host, id === null ? "/" : `/t/${id}`);
  return located?.path === "/" ? located.tenant : null;
}

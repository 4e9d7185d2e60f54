import type { Tenant } from "../../config/tenant.ts";
import type { Runtime } from "../../runtime.ts";
import { locate } from "../request/locate.ts";

/**
 * Finds the tenant of a page.
 *
 * @param host the `Host` header
 * @param id the tenant id in the address; null for an address without one
 * @returns null if there is no such page
 */
export async function pageTenant(
  runtime: Runtime,
  host: string | null,
  id: string | null,
): Promise<Tenant | null> {
  const located = await locate(runtime, host, id === null ? "/" : `/t/${id}`);
  return located?.path === "/" ? located.tenant : null;
}

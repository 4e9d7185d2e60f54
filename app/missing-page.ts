import { pageTenant } from "#server/http/page/page-tenant";
import { heldRuntime } from "#server/runtime-slot";

/**
 * Whether a page is asked for at the address of a tenant that there is none of. Next draws a page that finds out by
 * itself with scripts alone, and with such as our policy stops; so this is asked before.
 *
 * @param host the `Host` header
 * @returns false too where nobody can tell, for instance without a database: then the page says what is wrong
 */
export async function isMissingPage(host: string | null, path: string): Promise<boolean> {
  const runtime = heldRuntime();
  if (!runtime) return false;
  const [, id = null] = /^\/t\/([^/]+)/.exec(path) ?? [];
  const tenant = await pageTenant(runtime, host, id).catch(() => undefined);
  return tenant === null;
}

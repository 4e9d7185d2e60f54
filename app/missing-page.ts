import { pageTenant } from "#server/http/page/page-tenant";
import { heldRuntime } from "#server/runtime-slot";

/**
 * Whether the address names an unknown tenant. Next sends a page that calls `notFound()` with inline scripts, which the
 * Content-Security-Policy blocks, so this is checked before.
 *
 * @param host the `Host` header
 * @returns false also if the look-up fails, for instance without a database; then the page displays the error
 */
export async function isMissingPage(host: string | null, path: string): Promise<boolean> {
  const runtime = heldRuntime();
  if (!runtime) return false;
  const [, id = null] = /^\/t\/([^/]+)/.exec(path) ?? [];
  const tenant = await pageTenant(runtime, host, id).catch(() => undefined);
  return tenant === null;
}

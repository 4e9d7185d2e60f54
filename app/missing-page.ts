import { pageTenant } from "#server/http/page/page-tenant";
import { isKnownConfirmation } from "#server/passkey-server/confirmation";
import { heldRuntime } from "#server/runtime-slot";

/**
 * The header from the proxy to the page for missing addresses: the path of a confirmation page whose token is unknown.
 * The value is not trusted.
 */
export const UNKNOWN_CONFIRMATION = "stile-unknown-confirmation";

/** Why the page of an address is missing. */
export type MissingPage = "address" | "confirmation";

const pageAddress = /^(?:\/t\/([^/]+))?(\/confirm$)?/;

/**
 * Whether an address names an unknown tenant, or a confirmation that does not exist. Next sends a page that calls
 * `notFound()` with inline scripts, which the Content-Security-Policy blocks, so this is checked before.
 *
 * @param host the `Host` header
 * @returns null also if a look-up fails, for instance without a database; then the page displays the error
 */
export async function missingPage(
  host: string | null,
  { pathname, searchParams }: URL,
): Promise<MissingPage | null> {
  const runtime = heldRuntime();
  if (!runtime) return null;
  const [, id = null, confirmation] = pageAddress.exec(pathname) ?? [];
  try {
    const tenant = await pageTenant(runtime, host, id);
    if (!tenant) return "address";
    const token = searchParams.get("token");
    // A page that is reloaded has no token, and finds it in the browser.
    if (confirmation === undefined || !token) return null;
    return (await isKnownConfirmation({ runtime, tenant }, token)) ? null : "confirmation";
  } catch {
    return null;
  }
}

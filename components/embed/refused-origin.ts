import { REQUEST_TIMEOUT_MS } from "../flow/request-timeout.ts";

/**
 * Whether the service can be reached, but refuses the calls of this page: browsers do not tell a call that CORS forbids
 * from a lost connection, so the loader is asked for, which pages of every origin may load. Writes the setting that is
 * missing to the console.
 *
 * @param base address of the tenant, without a slash at its end
 */
export async function refusesOrigin(base: string): Promise<boolean> {
  const { origin } = new URL(base);
  if (location.origin === origin) return false;
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const isReached = await fetch(`${origin}/embed.js`, { mode: "no-cors", cache: "no-store", signal }).then(
    () => true,
    () => false,
  );
  if (isReached)
    // biome-ignore lint/suspicious/noConsole: the developers of the application read it there
    console.error(
      `Stile: ${base} refuses the calls of pages of ${location.origin}. Add this origin to cors.allow_origins (STILE_CORS_ALLOW_ORIGINS) of the service.`,
    );
  return isReached;
}

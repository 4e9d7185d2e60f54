import type { Config } from "../config/schema.ts";

/** Where the console is, and what of the service belongs to it. */

type Settings = Pick<Config, "base_url" | "console">;

/** The first segment of the addresses of its pages. */
export const CONSOLE_PATH = "/console";

/** Where a sign-in to the console returns to, with an authorization code. */
export const ENTERED_PATH = "/api/console/entered";

/**
 * The origin of the console. Tenants with hosts of their own share the scheme and the port of the server.
 *
 * @param config of any tenant
 */
export function consoleOrigin({ base_url, console: { host } }: Settings): string {
  const address = new URL(base_url);
  address.hostname = host;
  return address.origin;
}

/** Whether an address is where a sign-in to the console returns to. */
export const isConsoleEntry = (target: URL, config: Settings): boolean =>
  config.console.enabled && target.href === consoleOrigin(config) + ENTERED_PATH;

/**
 * Whether the console is served at a host.
 *
 * @param config of the server
 * @param host the `Host` header
 */
export function servesConsole(config: Settings, host: string | null): boolean {
  const { enabled } = config.console;
  return enabled && host?.toLowerCase() === new URL(consoleOrigin(config)).host;
}

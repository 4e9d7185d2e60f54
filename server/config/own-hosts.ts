import type { Config } from "./schema.ts";

/** The server's own host names, in lower case: that of `base_url`, `server.hosts`, and that of the console. */
export function ownHosts({
  base_url,
  server,
  console: { host },
}: Pick<Config, "base_url" | "server" | "console">): readonly string[] {
  return [new URL(base_url).hostname, ...server.hosts.map((name) => name.toLowerCase()), host];
}

/** The origin of the tenant's pages. */
export function ownOrigin({ base_url }: Pick<Config, "base_url">): string {
  return new URL(base_url).origin;
}

import type { Config } from "./schema.ts";

/** The server's own host names, in lower case: that of `base_url`, and `server.hosts`. */
export function ownHosts({ base_url, server }: Pick<Config, "base_url" | "server">): readonly string[] {
  return [new URL(base_url).hostname, ...server.hosts.map((host) => host.toLowerCase())];
}

/** The origin of the tenant's pages. */
export function ownOrigin({ base_url }: Pick<Config, "base_url">): string {
  return new URL(base_url).origin;
}

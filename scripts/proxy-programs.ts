import { spawnSync } from "node:child_process";

/** The reverse proxies that docs/reverse-proxies.md has a tested configuration for. Debian's packages have these names. */
export const proxyNames = ["nginx", "haproxy", "caddy"] as const;

export type ProxyName = (typeof proxyNames)[number];

/** An environment whose `PATH` also has the folders of programs that that of an ordinary user may lack. */
export const proxyEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

/** Whether the program of a proxy is on this machine. */
export function isInstalled(name: ProxyName): boolean {
  const words = [name === "caddy" ? "version" : "-v"];
  return spawnSync(name, words, { env: proxyEnvironment }).status === 0;
}

import { spawnSync } from "node:child_process";

/** The reverse proxies that docs/reverse-proxies.md has a tested configuration for. */
export const proxyNames = ["nginx", "haproxy", "caddy"] as const;

/** The programs that tests run beside the server, if they are there. Debian's packages have these names. */
export const programNames = [...proxyNames, "faketime", "pgbouncer", "prometheus"] as const;

export type ProxyName = (typeof proxyNames)[number];

/** An environment whose `PATH` also has the folders of programs that that of an ordinary user may lack. */
export const programEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

const versionWords: Partial<Record<(typeof programNames)[number], string>> = {
  caddy: "version",
  pgbouncer: "--version",
  prometheus: "--version",
};

/** Whether a program is on this machine. */
export function isInstalled(name: (typeof programNames)[number]): boolean {
  return spawnSync(name, [versionWords[name] ?? "-v"], { env: programEnvironment }).status === 0;
}

import { spawnSync } from "node:child_process";

/** The reverse proxies that docs/reverse-proxies.md has a tested configuration for. */
export const proxyNames = ["nginx", "haproxy", "caddy"] as const;

/** The programs that tests run beside the server, if they are there. */
export const programNames = [
  ...proxyNames,
  "faketime",
  "pgbouncer",
  "prometheus",
  "etcd",
  "patroni",
] as const;

export type ProxyName = (typeof proxyNames)[number];

type ProgramName = (typeof programNames)[number];

/** An environment whose `PATH` also has the folders of programs that that of an ordinary user may lack. */
export const programEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

const versionWords: Partial<Record<ProgramName, string>> = {
  caddy: "version",
  pgbouncer: "--version",
  prometheus: "--version",
  etcd: "--version",
  patroni: "--version",
};

const packages: Partial<Record<ProgramName, string>> = { etcd: "etcd-server" };

/** Returns the name of Debian's package that has a program. */
export const packageOf = (name: ProgramName): string => packages[name] ?? name;

/** Whether a program is on this machine. */
export function isInstalled(name: ProgramName): boolean {
  return spawnSync(name, [versionWords[name] ?? "-v"], { env: programEnvironment }).status === 0;
}

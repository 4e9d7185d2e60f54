import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** The reverse proxies that docs/reverse-proxies.md has a tested configuration for. */
export const proxyNames = ["nginx", "haproxy", "caddy"] as const;

export type ProxyName = (typeof proxyNames)[number];

/** Where a program comes from, and how it is asked whether it is there. */
interface Source {
  /** Debian's package, if it has another name. */
  debian?: string;
  /** The command of a Go module, with its version. */
  go?: string;
  /** The package of PyPI, with its version. */
  pypi?: string;
  /** What it is asked; default `-v`. */
  version?: string;
}

/** The programs that tests run beside the server, if they are there. */
const programs = {
  nginx: {},
  haproxy: {},
  caddy: { version: "version" },
  faketime: {},
  pgbouncer: { version: "--version" },
  prometheus: { version: "--version" },
  etcd: { debian: "etcd-server", version: "--version" },
  patroni: { version: "--version" },
  "systemd-analyze": { debian: "systemd", version: "--version" },
  helm: { go: "helm.sh/helm/v4/cmd/helm@v4.3.2", version: "version" },
  "kubernetes-validate": { pypi: "kubernetes-validate==1.37.0", version: "--help" },
} as const satisfies Record<string, Source>;

type ProgramName = keyof typeof programs;

export const programNames = Object.keys(programs) as ProgramName[];

/** Where `ensure-programs.ts` puts those that are not Debian's. */
const folder = join(import.meta.dirname, "../node_modules/.cache/programs");
export const goPrograms = join(folder, "go");
export const pythonPrograms = join(folder, "python");

/** An environment whose `PATH` also has the folders of programs that that of an ordinary user lacks. */
export const programEnvironment = {
  ...process.env,
  PATH: [process.env.PATH, "/usr/sbin", "/usr/local/sbin", goPrograms, join(pythonPrograms, "bin")].join(":"),
};

/** Returns where a program comes from. */
export function sourceOf(name: ProgramName): Source {
  return programs[name];
}

/** Returns the name of Debian's package that has a program. */
export const packageOf = (name: ProgramName): string => sourceOf(name).debian ?? name;

/** Whether a program is on this machine. */
export function isInstalled(name: ProgramName): boolean {
  return spawnSync(name, [sourceOf(name).version ?? "-v"], { env: programEnvironment }).status === 0;
}

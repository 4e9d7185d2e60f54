import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ProgramResult, run } from "../server/testing/program.ts";

/**
 * The file system of the image, made and run without a container engine: what the last stage of the `Dockerfile` copies, on
 * the libraries that Node needs, read-only, as the account of the image.
 */
export interface ImageRoot {
  folder: string;
  /** What the `Dockerfile` says that a container runs, and how it is asked whether it is healthy. */
  readonly program: { entrypoint: string[]; command: string[]; health: string[] };
  /** Starts a program of it. */
  start(words: readonly string[], environment: Record<string, string>): ChildProcess;
  /** Runs a program of it until it ends. */
  run(words: readonly string[], environment: Record<string, string>): Promise<ProgramResult>;
  remove(): void;
}

const root = join(import.meta.dirname, "..");

/** The account of the image. */
const ACCOUNT = "65532";

/** Whether this machine lets this account see a file system of its own. */
export const canIsolate =
  process.platform === "linux" && spawnSync("unshare", [...namespaces(), "true"]).status === 0;

/** Makes it from the files of `scripts/image-files.ts`. Remove it when it is not needed any more. */
export function makeImageRoot(): ImageRoot {
  const dockerfile = lastStage();
  const folder = mkdtempSync(join(tmpdir(), "stile-image-"));
  chmodSync(folder, 0o755);
  const put = (from: string, to: string) => {
    mkdirSync(join(folder, dirname(to)), { recursive: true });
    cpSync(from, join(folder, to));
  };
  for (const name of ["dev", "proc", "tmp", "etc"]) mkdirSync(join(folder, name));
  put(process.execPath, "/usr/local/bin/node");
  for (const file of ["/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf"])
    spawnSync("cp", ["--dereference", file, join(folder, "etc")]);
  execFileSync(
    process.execPath,
    [join(root, "scripts/run.js"), "scripts/image-files.ts", join(folder, "stile")],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const addons = globSync("stile/node_modules/**/*.node", { cwd: folder }).map((path) => join(folder, path));
  for (const library of new Set([process.execPath, ...addons].flatMap(librariesOf)))
    put(realpathSync(library), library);

  const words = (program: readonly string[]) => [
    ...namespaces(),
    "sh",
    "-c",
    [
      'mount --bind "$0" "$0"',
      'mount --rbind /dev "$0/dev"',
      'mount --rbind /proc "$0/proc"',
      'mount -o remount,bind,ro "$0"',
      `exec unshare --root="$0" --wd=${dockerfile.folder} ${account()} "$@"`,
    ].join(" && "),
    folder,
    ...program,
  ];
  const where = (environment: Record<string, string>) => ({
    cwd: "/",
    env: {
      NODE_ENV: "production" as const,
      PATH: process.env.PATH ?? "",
      ...dockerfile.environment,
      ...environment,
    },
  });
  return {
    folder,
    program: dockerfile,
    start: (program, environment) =>
      spawn("unshare", words(program), { ...where(environment), stdio: ["ignore", "pipe", "pipe"] }),
    run: (program, environment) => run("unshare", words(program), where(environment)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The parameters of `unshare` before those of a program that may mount. */
function namespaces(): string[] {
  return process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
}

/** Only root can become another account. */
function account(): string {
  return process.getuid?.() === 0 ? `--setgid=${ACCOUNT} --setuid=${ACCOUNT}` : "";
}

/** The shared libraries that a program is linked with, and its loader. */
function librariesOf(program: string): string[] {
  const lines = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...lines.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}

/** What the last stage of the `Dockerfile` states. */
function lastStage() {
  const text = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const stage = text.slice(text.lastIndexOf("\nFROM "));
  const one = (word: string) => {
    const found = new RegExp(`^${word} +(.*)$`, "m").exec(stage)?.[1];
    if (found === undefined) throw new Error(`the last stage of the Dockerfile has no ${word}`);
    return found;
  };
  const words = (text: string): string[] => JSON.parse(text.slice(text.indexOf("[")));
  return {
    entrypoint: words(one("ENTRYPOINT")),
    command: words(one("CMD")),
    health: words(one("HEALTHCHECK")),
    folder: one("WORKDIR"),
    user: one("USER"),
    environment: Object.fromEntries(
      one("ENV")
        .split(" ")
        .map((pair) => pair.split("=") as [string, string]),
    ),
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProxyName, programEnvironment } from "../../scripts/test-programs.ts";
import { freePort } from "./free-port.ts";

/** A running reverse proxy with a configuration of the documentation. */
export interface RunningProxy {
  port: number;
  stop(): Promise<void>;
}

/** The ports on 127.0.0.1 that take the place of those of the page. */
export interface ProxyTargets {
  stile: number;
  application: number;
}

/** How a program is started with the blocks of the page. */
interface Program {
  /** Writes the files of a configuration, and returns the arguments of the program. */
  configure(folder: string, port: number, blocks: (language: string) => string): string[];
}

const programs: Record<ProxyName, Program> = {
  nginx: {
    configure(folder, port, blocks) {
      const server = replaceOnce(blocks("nginx"), "listen 80;", `listen 127.0.0.1:${port};`);
      const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ");
      const file = write(
        folder,
        "nginx.conf",
        `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${paths} ${server} }`,
      );
      return ["-c", file, "-p", folder, "-e", "stderr"];
    },
  },
  haproxy: {
    configure(folder, port, blocks) {
      const script = write(folder, "stile.lua", blocks("lua"));
      const withScript = replaceOnce(blocks("haproxy"), "/etc/haproxy/stile.lua", script);
      return [
        "-db",
        "-f",
        write(folder, "haproxy.cfg", replaceOnce(withScript, "bind :80 ", `bind 127.0.0.1:${port} `)),
      ];
    },
  },
  caddy: {
    configure(folder, port, blocks) {
      const site = replaceOnce(blocks("caddy"), "app.example.com {", `http://app.example.com:${port} {`);
      const file = write(
        folder,
        "Caddyfile",
        `{\n\tadmin off\n\tstorage file_system ${folder}\n\tdefault_bind 127.0.0.1\n}\n${site}`,
      );
      return ["run", "--adapter", "caddyfile", "--config", file];
    },
  },
};

/**
 * Starts a reverse proxy with the configuration of docs/reverse-proxies.md, in which only ports and paths of files are
 * replaced.
 */
export async function startProxy(
  name: ProxyName,
  { stile, application }: ProxyTargets,
): Promise<RunningProxy> {
  const blocks = (language: string) =>
    blockOf("reverse-proxies.md", language)
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${stile}`)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${application}`);
  return run(name, await freePort(), (folder, port) => programs[name].configure(folder, port, blocks));
}

/**
 * Starts HAProxy before two servers with the configuration of docs/operating/rolling-restarts.md, in which only ports are
 * replaced.
 *
 * @param port of HAProxy on 127.0.0.1
 * @param servers ports of the servers there
 */
export function startBalancer(port: number, servers: readonly [number, number]): Promise<RunningProxy> {
  return run("haproxy", port, (folder) => {
    const page = blockOf("operating/rolling-restarts.md", "haproxy");
    const listening = replaceOnce(page, "bind :80\n", `bind 127.0.0.1:${port}\n`);
    const first = replaceOnce(listening, "192.0.2.1:3000", `127.0.0.1:${servers[0]}`);
    const both = replaceOnce(first, "192.0.2.2:3000", `127.0.0.1:${servers[1]}`);
    return ["-db", "-f", write(folder, "haproxy.cfg", both)];
  });
}

/** Returns the first block of code of a language on a page of the documentation. */
function blockOf(page: string, language: string): string {
  const text = readFileSync(join(import.meta.dirname, "../../docs", page), "utf8");
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(text)?.[1] ?? "";
}

async function run(
  name: ProxyName,
  port: number,
  configure: (folder: string, port: number) => string[],
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), "stile-proxy-"));
  // Workers of a proxy may run under another account.
  chmodSync(folder, 0o711);
  const child = spawn(name, configure(folder, port), {
    env: { ...programEnvironment, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await accepting(port, child, () => output);
  return {
    port,
    async stop() {
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @throws Error with the output of the program if it exits before it accepts connections */
async function accepting(port: number, child: ChildProcess, output: () => string): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the proxy has ended:\n${output()}`);
}

function write(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** @throws Error if the text is not there exactly once, so that the page cannot change unnoticed */
function replaceOnce(text: string, part: string, by: string): string {
  if (text.split(part).length !== 2) throw new Error(`the page must have "${part}" once`);
  return text.replace(part, () => by);
}

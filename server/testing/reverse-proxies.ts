import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProxyName, programEnvironment } from "../../scripts/test-programs.ts";
import { freePort } from "./free-port.ts";

/** A running reverse proxy with the configuration of docs/reverse-proxies.md. */
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
  const folder = mkdtempSync(join(tmpdir(), "stile-proxy-"));
  // Workers of a proxy may run under another account.
  chmodSync(folder, 0o711);
  const port = await freePort();
  const page = readFileSync(join(import.meta.dirname, "../../docs/reverse-proxies.md"), "utf8");
  const blocks = (language: string) =>
    (new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "")
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${stile}`)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${application}`);
  const child = spawn(name, programs[name].configure(folder, port, blocks), {
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

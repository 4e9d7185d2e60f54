import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEnvironment } from "../../scripts/test-programs.ts";
import { databaseAccount } from "../database/system-account.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { withClient } from "./postgres-cluster.ts";

/** The one of the PATH, or that `PGBOUNCER` names: newer ones keep prepared statements. */
const pgbouncer = process.env.PGBOUNCER ?? "pgbouncer";

/** Its version, as a number: 1.18. */
export function pgBouncerVersion(): number {
  const text = execFileSync(pgbouncer, ["--version"], { encoding: "utf8", env: programEnvironment });
  return Number(/\d+\.\d+/.exec(text)?.[0]);
}

/** PgBouncer before a PostgreSQL, in transaction mode. */
export interface PgBouncer {
  /** The address of the database through it. */
  url: string;
  close(): Promise<void>;
}

/**
 * @param databaseUrl of the database, with a password
 * @param settings of the section `[pgbouncer]` beside those that it needs
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), "stile-pgbouncer-"));
  // It does not run as root.
  const account = databaseAccount(folder);
  const ownPort = await freePort();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(ownPort),
    unix_socket_dir: "",
    auth_type: "plain",
    auth_file: join(folder, "users.txt"),
    logfile: join(folder, "pgbouncer.log"),
    pool_mode: "transaction",
    default_pool_size: "20",
    max_client_conn: "500",
    ...settings,
  };
  writeFileSync(join(folder, "users.txt"), `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${port}`,
      "[pgbouncer]",
      ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
      "",
    ].join("\n"),
  );
  if (account)
    for (const path of [folder, join(folder, "users.txt"), join(folder, "pgbouncer.ini")])
      chownSync(path, account.uid, account.gid);
  const program: ChildProcess = spawn(pgbouncer, [join(folder, "pgbouncer.ini")], {
    stdio: "ignore",
    env: programEnvironment,
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  });
  const gone = once(program, "exit");
  const url = databaseUrl.replace(/@[^/]*/, `@127.0.0.1:${ownPort}`);
  await eventually(() => withClient(url, async () => {}));
  return {
    url: `${url.split("?")[0]}`.replace(/\/[^/]*$/, pathname),
    async close() {
      program.kill("SIGQUIT");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

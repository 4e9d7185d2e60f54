import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { withClient } from "../server/testing/postgres-cluster.ts";
import type { RunningServer } from "../server/testing/server.ts";

/** The PostgreSQL that the measured servers share. */
export interface BenchDatabase {
  /** Address of Stile's database, as its owner. */
  url: string;
  /** Address of the same database as a superuser, if it is the embedded one. */
  adminUrl: string | null;
  version: string;
  /** Process id of the postmaster; null for one on another machine, whose processor time is not measured. */
  pid: number | null;
  /**
   * Counts the statements that PostgreSQL receives for one task, `begin` and `commit` included.
   *
   * @param times how often `run` performs the task, one after the other, after it has called `reset`. What the server
   *   does meanwhile by itself is rarer, and rounded away
   * @param address of the only database whose statements count; default: those of all
   * @returns null if the database does not let itself be asked
   */
  statementsOf(
    times: number,
    run: (reset: () => Promise<void>) => Promise<unknown>,
    address?: string,
  ): Promise<StatementCount | null>;
  /** Creates an empty database beside Stile's, and returns its address. */
  createBeside(name: string): Promise<string>;
  close(): Promise<void>;
}

export interface StatementCount {
  count: number;
  texts: { text: string; times: number }[];
}

/**
 * Opens the database of a running Stile. The embedded one gets `pg_stat_statements`, which takes a restart; it counts
 * nothing while throughput is measured.
 */
export async function openDatabase(server: RunningServer): Promise<BenchDatabase> {
  const given = process.env.DATABASE_URL;
  const embedded = given ? null : embeddedDatabase(server);
  if (embedded) {
    await withClient(embedded.adminUrl(), async (admin) => {
      await admin.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
      await admin.query("alter system set pg_stat_statements.track = 'none'");
    }).catch(() => {});
    await server.restart();
  }
  const address = embedded ? embeddedDatabase(server) : null;
  const url = address?.url ?? given ?? "";
  const admin = new pg.Client({ connectionString: address?.adminUrl() ?? url });
  // A server that fails to start takes its PostgreSQL with it: what it says is the error.
  admin.on("error", () => {});
  await admin.connect();
  const { rows } = await admin.query<{ version: string }>("select version()");
  const counts = await admin.query("create extension if not exists pg_stat_statements").then(
    () => admin.query("select pg_stat_statements_reset()").then(() => true),
    () => false,
  );

  const track = async (what: "none" | "top") => {
    await admin.query(`alter system set pg_stat_statements.track = '${what}'`);
    await admin.query("select pg_reload_conf()");
    // Other processes read the setting when they are next told; a new statement of theirs comes after that.
    await new Promise((resolve) => setTimeout(resolve, 200));
  };

  const statementsOf: BenchDatabase["statementsOf"] = async (times, run, only) => {
    if (!counts) return null;
    await track("top");
    await run(async () => void (await admin.query("select pg_stat_statements_reset()")));
    const { rows: counted } = await admin.query<{ query: string; calls: string }>(
      `select query, sum(calls) as calls from pg_stat_statements
       where toplevel and query not like '%pg_stat_statements%' and query not like 'SELECT $_ FROM ONLY %'
         and ($1::text is null or dbid = (select oid from pg_database where datname = $1)) group by query`,
      [only === undefined ? null : new URL(only).pathname.slice(1)],
    );
    await track("none");
    const texts = counted
      .map(({ query, calls }) => ({
        text: query.replaceAll(/\s+/g, " "),
        times: Math.round(Number(calls) / times),
      }))
      .filter((one) => one.times > 0);
    return { count: texts.reduce((sum, one) => sum + one.times, 0), texts };
  };

  return {
    url,
    adminUrl: address?.adminUrl() ?? null,
    version: /^PostgreSQL \S+/.exec(rows[0]?.version ?? "")?.[0] ?? "PostgreSQL",
    pid: address?.pid ?? null,
    statementsOf,
    async createBeside(name) {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`create database ${name}`);
      const beside = new URL(address?.adminUrl() ?? url);
      beside.pathname = `/${name}`;
      return beside.href;
    },
    close: () => admin.end(),
  };
}

/** Process id of the PostgreSQL that a server runs itself; null if it uses another one. */
export function postmasterOf(server: RunningServer): number | null {
  return process.env.DATABASE_URL ? null : embeddedDatabase(server).pid;
}

/** The database that a server runs itself, reached as the server reaches it. */
function embeddedDatabase({ dataDir }: RunningServer) {
  // Lines of postmaster.pid: process id, data directory, start, port, folder of the socket, address.
  const lines = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n");
  const [pid, , , port, socket = "", host = ""] = lines.map((line) => line.trim());
  const password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
  const address = (role: string, database: string) =>
    socket === ""
      ? `postgres://${role}:${password}@${host || "127.0.0.1"}:${port}/${database}`
      : `postgres://${role}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(socket)}`;
  return {
    pid: Number(pid),
    url: address("stile", "stile"),
    adminUrl: () => address("postgres", "postgres"),
  };
}

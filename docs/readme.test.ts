import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { freePort } from "../server/testing/free-port.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { copyRepository } from "../server/testing/repository-copy.ts";
import { commandsOf } from "./fenced-blocks.ts";

/** The two commands of the README. */

const root = join(import.meta.dirname, "..");

const folder = folderForTests("readme");

/** The line of the start that has the link for the first operator. */
const consoleLink = /^ +Console +(\S+)/m;

/** Copies the repository with what an earlier `npm install` and build left. */
function copyInstalled(): void {
  // The account of the database sees its folder below this one.
  chmodSync(folder, 0o755);
  copyRepository(folder);
  for (const built of ["dist", ".next"])
    cpSync(join(root, built), join(folder, built), {
      recursive: true,
      filter: (path) => path !== join(root, ".next/cache"),
    });
  // Links in place of more than a gigabyte, unless this is another device; the file that npm writes is a copy.
  const modules = ["node_modules", folder];
  execFileSync("sh", ["-c", 'cp -al "$0" "$1" 2>&- || cp -a "$0" "$1"', ...modules], { cwd: root });
  execFileSync("cp", [
    "--remove-destination",
    join(root, "node_modules/.package-lock.json"),
    join(folder, "node_modules"),
  ]);
}

describe.skipIf(process.platform !== "linux")("the commands of the README", () => {
  test("install and start the service with its database, its mailbox and the link to the console", async () => {
    copyInstalled();
    const port = await freePort();
    // Vitest sets it.
    const { BASE_URL, ...environment } = process.env;
    const started = spawn("sh", ["-c", commandsOf("README.md", "npm install && npm start")], {
      cwd: folder,
      env: {
        ...environment,
        NODE_ENV: "development",
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        PORT: String(port),
      },
      // A terminal sends its signals to the whole group.
      detached: true,
    });
    let said = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (chunk) => (said += chunk));
    const ended = once(started, "close");
    try {
      await eventually(async () => {
        if (started.exitCode !== null) return;
        expect((await fetch(`http://localhost:${port}/health/ready`)).status).toBe(200);
      });
      expect(started.exitCode, said).toBeNull();
      for (const path of ["/", "/dev/mailbox", "/dev/mail"])
        expect((await fetch(`http://localhost:${port}${path}`)).status).toBe(200);
      const [, link = ""] = await eventually(() => {
        expect(said).toMatch(consoleLink);
        return consoleLink.exec(said) ?? [];
      });
      expect((await fetch(link)).status).toBe(200);
      expect(existsSync(join(folder, "data"))).toBe(true);
    } finally {
      // A signal to a group that has ended would throw, in place of what the test has to say.
      if (started.exitCode === null && started.signalCode === null)
        process.kill(-Number(started.pid), "SIGINT");
      await ended;
    }
  });

  test("test it: they are what the continuous integration runs", () => {
    const commands = commandsOf("README.md", "npm install && npm test").trim();
    expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain(` && ${commands} `);
  });
});

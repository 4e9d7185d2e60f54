import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { commandsOf, textOf } from "../docs/fenced-blocks.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";
import { run } from "../server/testing/program.ts";

/**
 * Words that run a command as root on a machine with systemd that the tests may change, as `ssh root@machine` or
 * `docker exec -i machine`. They install there what the last commit has, so they are run on demand.
 */
const machine = (process.env.STILE_TEST_SYSTEMD ?? "").split(" ").filter(Boolean);

const root = join(import.meta.dirname, "..");

const folder = folderForTests("systemd-machine");

describe.skipIf(machine.length === 0)("the unit, installed on a machine with systemd", () => {
  const [program = "", ...words] = machine;
  const call = async (command: readonly string[], input: string | Uint8Array) => {
    const { code, out, err } = await run(program, [...words, ...command], {
      cwd: root,
      env: process.env,
      input,
    });
    expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
    return out.trim();
  };
  /** Runs commands until one fails. @returns what they print */
  const succeeded = (commands: string) => call(["bash", "-e"], commands);

  const HEALTH =
    "curl --fail --silent --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:3000/health/ready";
  const there = `/tmp/stile-${randomUUID()}.bundle`;
  // Taken from the page where the tests are skipped too: a page that has changed fails in every run.
  const commands = commandsOf("docs/operating/systemd.md", "useradd --system", {
    "https://github.com/stile-auth/stile": there,
    // The database is the embedded one.
    " DATABASE_URL=postgres://stile:…@localhost/stile": "",
    "smtps://stile:…@mail.example.com": "smtp://127.0.0.1:1025",
  });
  const [link] = /systemd-run --pty [^`]+/.exec(textOf("docs/operating/systemd.md")) ?? [];
  if (!link) throw new Error("docs/operating/systemd.md has no command that prints a link");

  let said: string;

  beforeAll(async () => {
    const bundle = join(folder, "stile.bundle");
    execFileSync("git", ["bundle", "create", "--quiet", bundle, "HEAD"], { cwd: root });
    await call(["dd", `of=${there}`, "status=none"], readFileSync(bundle));
    said = await succeeded(commands);
  }, 1_800_000);

  test("answers, as an account without rights", async () => {
    expect(said).toContain('{"ready":true}');
    expect(
      await succeeded("ps --no-headers -o user= -p $(systemctl show --property MainPID --value stile)"),
    ).toBe("stile");
  });

  test("has the commands of the CLI", async () => {
    expect(await succeeded(link.replace("--pty", "--pipe"))).toMatch(
      /^https:\/\/login\.example\.com\/.*invitation=/m,
    );
  });

  test("is started again after it was killed", async () => {
    await succeeded("systemctl kill --signal SIGKILL stile && sleep 3");
    expect(await succeeded(HEALTH)).toBe('{"ready":true}');
    expect(await succeeded("systemctl show --property NRestarts --value stile")).toBe("1");
  });

  test("ends by itself when it is stopped, and starts again", async () => {
    await succeeded("systemctl stop stile");
    expect(await succeeded("systemctl show --property Result --value stile")).toBe("success");
    await succeeded("systemctl start stile");
    expect(await succeeded(HEALTH)).toBe('{"ready":true}');
  });
});

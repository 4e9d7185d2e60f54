import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { run } from "../testing/program.ts";

const root = join(import.meta.dirname, "../..");

/** The exit code where no small disk can be mounted. */
const NO_DISK = 3;

test("a migration whose disk is full says so in one line, and goes on once there is room", async (context) => {
  const { code, out, err } = await run(
    process.execPath,
    ["scripts/run.js", "server/testing/migration-on-full-disk.ts"],
    { cwd: root, env: process.env },
  );
  if (code === NO_DISK) return context.skip("no file system can be mounted here");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const { refused, built } = JSON.parse(out);
  expect(refused).toEqual({
    isStartError: true,
    message: expect.stringMatching(
      /^the disk of the database is full \(0042_user_search \(\d of \d\)\): make room and start again/,
    ),
  });
  expect(built).toEqual(expect.arrayContaining(["users_name", "users_family_name"]));
});

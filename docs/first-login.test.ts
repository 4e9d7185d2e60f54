import process from "node:process";
import { expect, test } from "vitest";
import { folderForTests, openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { startServer } from "../server/testing/server.ts";
import { runCommandsOf } from "./page-commands.ts";

const database = await openForTests(testDatabase());
const server = await openForTests(startServer({ env: { DATABASE_URL: database.url } }));
const folder = folderForTests("first login");

test.skipIf(process.platform === "win32")(
  "the tour signs a user up, in and out, and shows a wrong password on the way",
  async () => {
    const { code, out, err } = await runCommandsOf("first-login.md", server, folder);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trim().split("\n");
    const answers = lines.slice(0, -1).map((line) => JSON.parse(line));
    expect(answers.map(({ name, status }) => [name, status])).toEqual([
      ["preflight", 200],
      ["registration_init", 200],
      ["passcode_confirmation", 200],
      ["password_creation", 200],
      ["success", 200],
      ["preflight", 200],
      ["login_init", 200],
      ["login_method_chooser", 200],
      ["login_password", 200],
      ["login_password", 400],
      ["success", 200],
      [undefined, undefined],
    ]);
    expect(answers.at(-1)).toMatchObject({ user_id: answers.at(-2).payload.user.user_id });
    expect(lines.at(-1)).toBe("204");
  },
);

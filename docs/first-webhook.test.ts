import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { freePort } from "../server/testing/free-port.ts";
import { fencedBlocks } from "./fenced-blocks.ts";
import { runCommandsOf } from "./page-commands.ts";
import { readerServer } from "./reader-server.ts";

const [config] = fencedBlocks("docs/first-webhook.md", "json");
const { server, folder } = await readerServer(JSON.parse(config?.text ?? ""));

test.skipIf(process.platform === "win32")(
  "the tour delivers events to a receiver that verifies them, and one that it missed while it was down",
  async () => {
    const { code, out, err } = await runCommandsOf("first-webhook.md", server, folder, {
      port: String(await freePort()),
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const id = "[\\da-f-]{36}";
    const shown = [
      `^${id}$`,
      `^${id} test \\{.*\\}$`,
      `^${id}$`,
      `^${id} user\\.create \\{.*"ada-\\d+@example\\.com".*\\}$`,
      `^${id}$`,
      `"state":"waiting".*"error":"connection"`,
      `^$`,
      `^${id} user\\.create \\{.*"grace-\\d+@example\\.com".*\\}$`,
      `^id +event +state +created +attempts +last answer$`,
      `^${id} +user\\.create +delivered +\\S+ +[23] +204$`,
      `^${id} +user\\.create +delivered +\\S+ +1 +204$`,
      `^${id} +test +delivered +\\S+ +1 +204$`,
      `^1 event is delivered again\\.$`,
      `^${id} user\\.create .*"grace-`,
      `^${id} user\\.create .*"grace-`,
    ];
    const lines = out.trimEnd().split("\n");
    expect(lines).toEqual(shown.map((pattern) => expect.stringMatching(pattern)));
    const [first, again] = lines.slice(-2).map((line) => line.split(" ", 1)[0]);
    expect(again).toBe(first);
    expect(existsSync(join(folder, "received.txt"))).toBe(false);
  },
);

import process from "node:process";
import { expect, test } from "vitest";
import { freePort } from "../server/testing/free-port.ts";
import { fencedBlocks } from "./fenced-blocks.ts";
import { runCommandsOf } from "./page-commands.ts";
import { readerServer } from "./reader-server.ts";

const [config] = fencedBlocks("docs/first-api.md", "json");
const { server, folder } = await readerServer(JSON.parse(config?.text ?? ""));

test.skipIf(process.platform === "win32")(
  "the tour gets a token, which the API accepts for what it allows alone",
  async () => {
    const { code, out, err } = await runCommandsOf("first-api.md", server, folder, {
      port: String(await freePort()),
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd().split("\n")).toEqual([
      "200 reports may: orders:read",
      "401 Bearer",
      '401 Bearer error="invalid_token"',
      '401 Bearer error="invalid_token"',
      '403 Bearer error="insufficient_scope", scope="orders:write"',
      '403 Bearer error="insufficient_scope", scope="orders:write"',
    ]);
  },
);

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../server/testing/program.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "stile installed "));
afterAll(() => rmSync(folder, { recursive: true }));

test("an installed package runs the compiled command, though it has sources and no stamp of a build", async () => {
  const installed = join(folder, "node_modules", "stile");
  for (const name of ["bin", "scripts", "package.json"])
    cpSync(join(root, name), join(installed, name), { recursive: true });
  const put = (path: string, content: string) => {
    mkdirSync(join(installed, path, ".."), { recursive: true });
    writeFileSync(join(installed, path), content);
  };
  put("server/cli/stile.ts", 'const from: string = "sources"; console.log(from);');
  put("dist/server/cli/stile.js", 'console.log("compiled");');
  const { out, err } = await run(join(installed, "bin", "stile.js"), [], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", NODE_ENV: "test" },
  });
  expect({ out, err }).toEqual({ out: "compiled\n", err: "" });
});

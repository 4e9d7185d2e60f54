import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { HandlerContext } from "../table/handler-context.ts";
import { assetHandler } from "./asset.ts";

const root = mkdtempSync(join(tmpdir(), "stile-assets-"));
afterAll(() => rmSync(root, { recursive: true }));
vi.mock("../../lib/project-path.ts", () => ({
  projectPath(...segments: string[]) {
    const path = join(root, ...segments);
    return existsSync(path) ? path : null;
  },
}));

test("a file that was asked for before the build is served after it", async () => {
  const request = new Request("http://localhost/assets/login-1.js");
  const asked = async () =>
    (await assetHandler({
      request,
      params: { file: "login-1.js" },
    } as unknown as HandlerContext)) as Response;
  expect((await asked()).status).toBe(404);
  const folder = join(root, "dist", "hosted", "assets");
  mkdirSync(folder, { recursive: true });
  expect((await asked()).status).toBe(404);
  writeFileSync(join(folder, "login-1.js"), "1");
  writeFileSync(join(root, "dist", "hosted", "assets.json"), "{}");
  const served = await asked();
  expect([served.status, await served.text()]).toEqual([200, "1"]);
});

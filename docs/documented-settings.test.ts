import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configLeaves, loadConfig } from "../server/config/load.ts";
import type { Tree } from "../server/lib/tree.ts";
import { vectorRoot } from "../server/testing/webauthn-vectors.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

/** Configuration in JSON, as pages show it for `stile.config.json` and for the settings of tenants. */

const root = join(import.meta.dirname, "..");
const sections = new Set(configLeaves().map(({ path }) => path[0]));
const certificate = JSON.stringify(vectorRoot.toString()).slice(1, -1);

/** Several values, a line each. */
const isLines = (text: string) => /^\{.*\}\n\{/.test(text);

const configurations = globSync(["docs/*.md", "docs/operating/*.md"], { cwd: root }).flatMap((page) =>
  fencedBlocks(page, "json").flatMap(({ line, text }) => {
    if (isLines(text)) return [];
    const file: Tree = JSON.parse(text.replace("-----BEGIN CERTIFICATE-----…", certificate));
    return Object.keys(file).some((name) => sections.has(name)) ? [{ page, line, file }] : [];
  }),
);

test.each(configurations)("a server starts with the configuration of $page, line $line", ({ file }) => {
  const environment = {
    NODE_ENV: "development",
    BASE_URL: "https://login.example.com",
    SECRET_KEYS: "a key for tests alone",
  };
  expect(loadConfig(environment, root, file)).toMatchObject({ ignored: [] });
});

test("pages of several parts show configuration", () => {
  expect(configurations.length).toBeGreaterThan(10);
});

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { documentedCommands, tutorials } from "./documented-commands.ts";
import { documentedService } from "./documented-service.ts";
import { type PageSetup, pageSetups, settingValues } from "./page-setups.ts";
import { readerShell } from "./reader-shell.ts";

/**
 * Runs the commands of every page: each page in one shell, as its reader would. Tutorials, and blocks that need more than a
 * shell, have tests of their own.
 */

const service = await documentedService();
const shell = await openForTests(readerShell(join(service.folder, "programs"), service));

/** The addresses where pages say that Stile runs. */
const stated = ["http://localhost:3000", "https://login.example.com"];

const replace = (text: string, replaced: Record<string, string> = {}) =>
  Object.entries(replaced).reduce((all, [example, real]) => all.replaceAll(example, () => real), text);

/** Makes the folder of a page, with what its commands need. */
function folderOf(page: string, { files = {} }: PageSetup): string {
  const folder = join(service.folder, page.replaceAll("/", " "));
  mkdirSync(folder);
  copyFileSync(join(service.folder, "stile.config.json"), join(folder, "stile.config.json"));
  for (const [name, content] of Object.entries(files))
    if (name.endsWith("/")) mkdirSync(join(folder, name));
    else writeFileSync(join(folder, name), content);
  return folder;
}

describe.skipIf(process.platform === "win32")("the commands of", () => {
  test.each(documentedCommands.filter(({ run }) => run.length > 0))(
    "$page succeed",
    async ({ page, run }) => {
      const setup = (await pageSetups[page]?.(service)) ?? {};
      const here = Object.fromEntries(stated.map((address) => [address, service.url]));
      const text = run.map((block) => block.text).join("\n");
      expect(Object.keys(setup.replaced ?? {}).filter((example) => !text.includes(example))).toEqual([]);
      const { code, out, err } = await shell.run(
        replace(replace(text, setup.replaced), here),
        folderOf(page, setup),
        { ...service.environment, ...setup.variables },
      );
      expect(code, out + err).toBe(0);
      for (const pattern of setup.shows ?? []) expect(out + err).toMatch(pattern);
    },
  );
});

const settings = documentedCommands.flatMap(({ page, settings: blocks }) =>
  blocks.map((block) => ({ page, ...block })),
);

describe.skipIf(process.platform === "win32")("settings", () => {
  test.each(settings)("of $page, line $line, are accepted", async ({ text }) => {
    const check = `set -a\n${replace(text, settingValues)}\nset +a\nnpx --no-install stile config check`;
    const environment = { NODE_ENV: "development" as const, SECRET_KEYS: "a key for tests alone" };
    const { code, err } = await shell.run(check, service.folder, environment);
    expect(code, err).toBe(0);
  });
});

test("every set-up is that of a page whose commands are run", () => {
  const run = documentedCommands.flatMap((page) => (page.run.length > 0 ? [page.page] : []));
  expect(Object.keys(pageSetups).filter((page) => !run.includes(page))).toEqual([]);
});

test("tutorials are run by tests of their own", () => {
  const named = ["first-api", "first-login", "first-webhook", "saml-customer"];
  expect(tutorials).toEqual(expect.arrayContaining(named.map((name) => `docs/${name}.md`)));
});

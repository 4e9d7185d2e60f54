import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { folderForTests } from "../server/testing/open-for-tests.ts";

const docs = import.meta.dirname;
const root = join(docs, "..");

const folder = folderForTests("site");

describe("the site of the documentation", () => {
  /** Path below the site → HTML. */
  let pages: Map<string, string>;

  beforeAll(async () => {
    const vitepress = join(root, "node_modules/vitepress/bin/vitepress.js");
    await promisify(execFile)(process.execPath, [vitepress, "build", docs], {
      cwd: root,
      env: {
        ...process.env,
        NODE_ENV: "production",
        DOCS_FOLDER: folder,
        DOCS_SITE: "https://example.com/stile/",
      },
    });
    pages = new Map(
      globSync("**/*.html", { cwd: folder }).map((path) => [path, readFileSync(join(folder, path), "utf8")]),
    );
  });

  test("has each page, which the list beside it names once", () => {
    const written = globSync("**/*.md", { cwd: docs }).map((path) =>
      path.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html"),
    );
    expect([...pages.keys()].filter((path) => path !== "404.html").sort()).toEqual(written.sort());
    const [, list = ""] =
      /<nav [^>]*id="VPSidebarNav"[^>]*>(.*?)<\/nav>/s.exec(pages.get("security.html") ?? "") ?? [];
    const listed = [...list.matchAll(/href="\/stile\/([^"]*)"/g)].map(([, path = ""]) =>
      path === "" || path.endsWith("/") ? `${path}index.html` : `${path}.html`,
    );
    expect(listed.sort()).toEqual(written.filter((path) => path !== "index.html").sort());
  });

  test("has no link to a page or to a part of a page that does not exist", () => {
    const ids = new Map(
      [...pages].map(([path, html]) => [
        path,
        new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)),
      ]),
    );
    const lost = [...pages].flatMap(([path, html]) =>
      [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)]
        .map(([, href = ""]) => new URL(href, `https://example.com/stile/${path}`))
        .filter(({ origin, pathname }) => origin === "https://example.com" && pathname.startsWith("/stile/"))
        .filter(({ pathname, hash }) => {
          const name = decodeURIComponent(pathname.slice("/stile/".length));
          const target = name === "" || name.endsWith("/") ? `${name}index.html` : name;
          const found = ids.get(target) ?? ids.get(`${target}.html`);
          return !found || (hash !== "" && !found.has(decodeURIComponent(hash.slice(1))));
        })
        .map(({ href }) => `${path}: ${href}`),
    );
    expect(lost).toEqual([]);
  });

  test("leads to files of the repository that exist", () => {
    const prefix = /^https:\/\/github\.com\/stile-auth\/stile\/(?:blob|tree)\/main\//;
    const files = [...pages.values()].flatMap((html) =>
      [...html.matchAll(/href="([^"#]*)/g)]
        .map(([, href = ""]) => href)
        .filter((href) => prefix.test(href))
        .map((href) => href.replace(prefix, "")),
    );
    expect(files.length).toBeGreaterThan(50);
    expect([...new Set(files)].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test("can be searched for what pages say", () => {
    const [index = ""] = globSync("assets/chunks/@localSearchIndexroot*.js", { cwd: folder });
    const text = readFileSync(join(folder, index), "utf8");
    for (const words of ["Checking a session", "Under systemd", "back-channel"])
      expect(text).toContain(words);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

const docs = join(import.meta.dirname, "..");

const titleOf = (path: string) => /^# (.*)$/m.exec(readFileSync(join(docs, path), "utf8"))?.[1] ?? path;

const entryOf = (path: string) => ({
  text: titleOf(path).replaceAll("`", ""),
  link: `/${path.replace(/README\.md$/, "").replace(/\.md$/, "")}`,
});

/** The groups of `docs/README.md` with their pages; below the index of decisions each of them. Pages elsewhere are left out. */
export function sidebar(): DefaultTheme.SidebarItem[] {
  const [, ...groups] = readFileSync(join(docs, "README.md"), "utf8").split(/^## /m);
  return groups.map((group) => ({
    text: group.slice(0, group.indexOf("\n")),
    items: [...group.matchAll(/^\| \[[^\]]*\]\(([^)]*)\) \|/gm)]
      .map(([, path = ""]) => path)
      .filter((path) => !path.startsWith("../"))
      .map((path) => (path === "decisions/README.md" ? { ...entryOf(path), ...decisions() } : entryOf(path))),
  }));
}

function decisions() {
  const pages = readdirSync(join(docs, "decisions")).filter((name) => name !== "README.md");
  return { collapsed: true, items: pages.map((name) => entryOf(`decisions/${name}`)) };
}

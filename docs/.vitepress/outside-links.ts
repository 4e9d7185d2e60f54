import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { MarkdownRenderer } from "vitepress";

const root = join(import.meta.dirname, "../..");
const docs = join(root, "docs");

const REPOSITORY = "https://github.com/stile-auth/stile";

/**
 * Pages link to each other, and to files of the repository, by relative paths, which work where the repository is read. On
 * the site, a file outside `docs/` is shown by the repository, and an index has another name.
 */
export function withOutsideLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("outside_links", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === "link_open") {
        const target = token.attrGet("href") ?? "";
        token.attrSet("href", hrefOf(target, dirname(env.path)));
      }
  });
}

/** @param folder of the page that links */
function hrefOf(target: string, folder: string): string {
  if (/^([a-z]+:|#|\/)/.test(target)) return target;
  const [path = "", fragment] = target.split("#");
  const file = join(folder, path);
  // A link to nothing stays as it is, so that it ends the build.
  if (!existsSync(file)) return target;
  const anchor = fragment === undefined ? "" : `#${fragment}`;
  if (!relative(docs, file).startsWith("..") && file.endsWith(".md"))
    return `${path.replace(/README\.md$/, "index.md")}${anchor}`;
  const kind = statSync(file).isDirectory() ? "tree" : "blob";
  return `${REPOSITORY}/${kind}/main/${relative(root, file)}${anchor}`;
}

import { defineConfig } from "vitepress";
import { keepBraces } from "./braces.ts";
import { drawMermaid } from "./mermaid.ts";
import { withOutsideLinks } from "./outside-links.ts";
import { base, versions } from "./releases.ts";
import { sidebar } from "./sidebar.ts";

/**
 * The documentation as a site: `npm run docs:site` writes it to `site/`. Its pages are those of `docs/` as they are, in the
 * order of `docs/README.md`. A link to a page that does not exist ends the build.
 *
 * `DOCS_SITE` is the address where it is published, `DOCS_VERSION` the release whose pages these are, and `DOCS_FOLDER`
 * where it is written.
 */
export default defineConfig({
  title: "Stile",
  description: "The documentation of Stile, a sign-in service",
  base,
  outDir: process.env.DOCS_FOLDER ?? "../site",
  cacheDir: "../node_modules/.cache/vitepress",
  cleanUrls: true,
  // The addresses of a service that the reader has started.
  ignoreDeadLinks: "localhostLinks",
  // An index is README.md where the repository is read.
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  markdown: {
    languageAlias: { promql: "sql", haproxy: "ini", caddy: "nginx" },
    config(markdown) {
      withOutsideLinks(markdown);
      keepBraces(markdown);
      drawMermaid(markdown);
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local" },
    sidebar: sidebar(),
    nav: [versions],
    socialLinks: [{ icon: "github", link: "https://github.com/stile-auth/stile" }],
  },
});

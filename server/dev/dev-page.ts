import type { Config } from "../config/schema.ts";
import { type Html, html, trusted } from "../mail/html.ts";
import { themeCss } from "../theme/theme-css.ts";

/** What the pages look alike in, in the custom properties of the theme. */
const styles = `
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 var(--stile-font); color: var(--stile-ink); background: var(--stile-ground); }
header { margin: 0 auto; padding: 28px 24px 16px; }
h1 { margin: 0; font-size: 22px; }
header p { margin: 4px 0 0; color: var(--stile-ink-soft); }
main { margin: 0 auto; padding: 0 24px 40px; }
h2 { margin: 0; font-size: 20px; overflow-wrap: anywhere; }
h3 { margin: 24px 0 8px; font-size: 15px; }
iframe { display: block; border: 1px solid var(--stile-line); border-radius: var(--stile-radius); }
pre { margin: 0; padding: 16px; font: 14px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--stile-ground); border-radius: var(--stile-radius); }
`;

/**
 * Renders a page of development, which is in English alone.
 *
 * @param page `heading`: default: the title; `style` and `script`: as they are; `main`: the element of that name
 */
export function devPage(
  { service, theme }: Pick<Config, "service" | "theme">,
  page: {
    title: string;
    heading?: Html;
    about: Html | string;
    style: string;
    main: Html;
    script?: string;
  },
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · ${service.name}</title>
<style>${trusted(themeCss(theme) + styles + page.style)}</style>
</head>
<body>
<header><h1>${page.heading ?? page.title}</h1><p>${page.about}</p></header>
${page.main}
${page.script ? html`<script>${trusted(page.script)}</script>` : ""}
</body>
</html>
`;
}

/**
 * Returns the headers of a page of development.
 *
 * @param policy directives of its content security policy that allow something
 */
export function devHeaders(policy: Record<string, string>): Record<string, string> {
  const directives = {
    "default-src": "'none'",
    ...policy,
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
  };
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": Object.entries(directives)
      .map((directive) => directive.join(" "))
      .join("; "),
  };
}

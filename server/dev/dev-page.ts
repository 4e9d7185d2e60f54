import { type Html, html, trusted } from "../mail/html.ts";

/**
 * Renders a page of development, which is in English alone.
 *
 * @param page `style` and `script`: as they are; `main`: the element of that name
 */
export const devPage = (page: {
  title: string;
  service: string;
  about: Html | string;
  style: string;
  main: Html;
  script: string;
}): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · ${page.service}</title>
<style>${trusted(page.style)}</style>
</head>
<body>
<header><h1>${page.title}</h1><p>${page.about}</p></header>
${page.main}
<script>${trusted(page.script)}</script>
</body>
</html>
`;

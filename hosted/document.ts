import { html, trusted } from "#server/mail/html";
import { directionOf } from "#words/direction";
import type { PageLanguage } from "#words/language-tags";
import type { BuiltPages } from "./assets.ts";
import { PAGE_ID, PROPERTIES_ID } from "./drawing/element-ids.ts";
import type { Page } from "./page.ts";
import { themeIcon, themeStyle } from "./theme.ts";

/** Address of a file of the pages. */
const assetAddress = (name: string) => `/assets/${name}`;

/**
 * Makes the HTML document of a page. Its styles stand in it, so that the first answer can be drawn; its form works before
 * the script arrives, and without any.
 *
 * @param language BCP 47 tag of the page
 * @param nonce that the page's policy allows for styles and scripts
 */
export function documentOf(
  page: Page,
  { assets, styles, draw }: BuiltPages,
  language: PageLanguage,
  nonce: string,
): string {
  const { content, title, config, scheme, referrer } = page;
  const script = assets.scripts[content.part];
  return html`<!DOCTYPE html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
${referrer ? html`<meta name="referrer" content="${referrer}">` : []}
<title>${title}</title>
<style nonce="${nonce}">${trusted(styles + themeStyle(config, scheme))}</style>
<link rel="icon" href="${themeIcon(config) ?? assetAddress(assets.icon)}">
${script ? script.imports.map((name) => html`<link rel="modulepreload" href="${assetAddress(name)}" nonce="${nonce}">`) : []}
</head>
<body class="stile-body">
<div id="${PAGE_ID}">${trusted(draw(content))}</div>
${
  script
    ? html`<script type="application/json" id="${PROPERTIES_ID}">${trusted(scriptData(content.props))}</script>
<script type="module" src="${assetAddress(script.entry)}" nonce="${nonce}"></script>`
    : []
}
</body>
</html>
`.markup;
}

/** JSON inside a script element, which ends at the first `</script`, and whose `<!--` changes how it is read. */
function scriptData(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

import { directionOf } from "#words/direction";
import { languageTags, type PageLanguage, pseudoTags } from "#words/language-tags";
import type { LanguageWords } from "#words/language-words";
import { wordsOf } from "#words/words-of";
import { hashSource } from "../../lib/hash-source.ts";
import { type Html, html, trusted } from "../../mail/html.ts";
import { builtGallery } from "../../preview/pictures.ts";
import type { Runtime } from "../../runtime.ts";
import { fonts, presets } from "../../theme/presets.ts";
import { themeCss } from "../../theme/theme-css.ts";
import { devHeaders } from "../dev-page.ts";
import { colorNames, schemes, type Theme, type TriedTheme, triedTheme } from "./settings.ts";
import { themePreviewScript, themePreviewStyles } from "./styles.ts";

/** The pages that the interfaces send without the renderer: documents, with a style sheet of their own. */
export interface PlainPages {
  styles: string;
  documents(
    words: LanguageWords,
    language: PageLanguage,
    service: string,
  ): { name: string; document: string }[];
}

/** @param styles style sheets that stand in the document, or in one that it holds */
const headersWith = (...styles: string[]) =>
  devHeaders({
    "script-src": hashSource(themePreviewScript),
    "style-src": ["'self'", ...styles.map(hashSource)].join(" "),
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
  });

const headers = headersWith(themePreviewStyles);

/** Languages of the page, pseudo-languages included. */
const tags: readonly PageLanguage[] = [...languageTags, ...pseudoTags];

/**
 * `GET /dev/theme`: every picture of the gallery with a theme that a form changes, contrast warnings, and the
 * configuration to copy. The query has the settings, as `triedTheme` reads them, and `lang`; without settings the theme
 * is that of the configuration. Nothing is stored.
 */
export async function themePreviewPage(
  { config }: Pick<Runtime, "config">,
  url: URL,
  plainPages: PlainPages,
): Promise<Response> {
  const built = await builtGallery();
  const tried = triedTheme(url.searchParams, config.theme);
  const language = tags.find((tag) => tag === url.searchParams.get("lang")) ?? "en";
  const words = wordsOf(language, config.words);
  const service = config.service.name;
  const pictures = built.pictures.map(({ name }) => ({
    name,
    markup: built.drawPicture(name, { words, language, service }) ?? "",
  }));
  const documents = plainPages.documents(words, language, service);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Themes · ${service}</title>
<link rel="stylesheet" href="/assets/${built.style}">
<link rel="stylesheet" href="/dev/theme/style.css${url.search}" data-tried>
<style>${trusted(themePreviewStyles)}</style>
</head>
<body class="stile-body try-body">
${settingsForm(tried, language)}
<main class="try-states">
${pictures.map(({ name, markup }) => html`<section><h2>${name}</h2><div dir="${directionOf(language)}">${trusted(markup)}</div></section>\n`)}
${documents.map(({ name, document }) => html`<section><h2>${name}</h2><iframe title="${name}" srcdoc="${document}"></iframe></section>\n`)}
</main>
<script>${trusted(themePreviewScript)}</script>
</body>
</html>
`;
  return new Response(page.markup, {
    headers: {
      ...headersWith(themePreviewStyles, plainPages.styles),
      "content-type": "text/html; charset=utf-8",
    },
  });
}

/** `GET /dev/theme/style.css`: the style sheet of the theme in the query. */
export function themePreviewStyle({ config }: Pick<Runtime, "config">, url: URL): Response {
  const { theme } = triedTheme(url.searchParams, config.theme);
  return new Response(themeCss(theme), {
    headers: { ...headers, "content-type": "text/css; charset=utf-8" },
  });
}

/** `GET /dev/theme/settings.json`: what is to be said about the theme in the query. */
export function themePreviewSettings({ config }: Pick<Runtime, "config">, url: URL): Response {
  const { theme: _, ...said } = triedTheme(url.searchParams, config.theme);
  return Response.json(said, { headers });
}

function settingsForm({ theme, faults, warnings, configuration }: TriedTheme, language: string): Html {
  const listOf = (id: string, texts: string[]) =>
    html`<ul id="${id}" class="fault" role="status">${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
  return html`<aside class="try-settings">
<h1>Themes</h1>
<form>
${choice("preset", "Preset", Object.keys(presets), theme.preset)}
${choice("color_scheme", "Scheme", ["auto", ...schemes], theme.color_scheme)}
${choice("font", "Font", ["", ...Object.keys(fonts)], theme.font ?? "")}
${choice("density", "Density", ["comfortable", "compact"], theme.density)}
<label><span>Radius</span><input type="number" name="radius" min="0" max="24" value="${theme.radius ?? ""}" placeholder="${presets[theme.preset].radius}"></label>
${schemes.map((scheme) => html`<h2>Colours, ${scheme}</h2>${colorNames.map((name) => colorField(theme, scheme, name))}`)}
<h2>Logo</h2>
<label><span>Image</span><input type="file" accept="image/png,image/jpeg,image/webp,image/svg+xml"></label>
<h2>Language</h2>
${choice("lang", "Words", tags, language)}
<button type="submit">Show</button>
</form>
<h2>Warnings</h2>
${listOf("faults", faults)}
${listOf("warnings", warnings)}
<h2>Configuration</h2>
<pre id="configuration">${configuration}</pre>
</aside>`;
}

function choice(name: string, label: string, values: readonly string[], chosen: string): Html {
  return html`<label><span>${label}</span><select name="${name}">${values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? trusted(" selected") : ""}>${value || "that of the preset"}</option>`,
  )}</select></label>
`;
}

/** A colour as text, which may be empty, and the browser's own choice of a colour, which may not. */
function colorField(
  theme: Theme,
  scheme: (typeof schemes)[number],
  color: (typeof colorNames)[number],
): Html {
  const name = `${scheme}.${color}`;
  const own = theme[scheme][color];
  const ofPreset = presets[theme.preset][scheme][color];
  return html`<label class="color"><span>${color}</span><input type="text" name="${name}" value="${own ?? ""}" placeholder="${ofPreset}" pattern="#[0-9a-fA-F]{6}" spellcheck="false"><input type="color" data-color="${name}" value="${own ?? ofPreset}" aria-label="${color}, ${scheme}"></label>
`;
}

import { html, trusted } from "../mail/html.ts";
import { PREVIEW_READY } from "./displayed-picture.ts";
import { builtGallery } from "./pictures.ts";

/**
 * The document that displays a picture in a frame of a page of the same origin, which sends it what to display. It loads
 * nothing: the styles of the pages are in it, a theme is a style sheet without requests, and logos are `data:` addresses.
 */

/** A function for scripts: shows a logo as pages do, in all pictures of a document. */
export const showLogoFunction = `
function showLogo(source) {
  for (const brand of document.querySelectorAll(".stile-brand")) {
    const image = document.createElement("img");
    image.className = "stile-logo";
    image.alt = "";
    image.src = source;
    brand.replaceChildren(image);
  }
}
`;

/** Where a picture stands in the document. */
const PICTURE_ID = "picture";

/**
 * Displays what the page around it sends. Its origin is opaque, because the document is in a sandbox; its address is not. A
 * style sheet made by a script is not subject to the policy, and cannot import others (CSSOM, "replace a CSSStyleSheet").
 */
export const previewScript = `${showLogoFunction}
const place = document.getElementById("${PICTURE_ID}");
const theme = new CSSStyleSheet();
document.adoptedStyleSheets = [theme];
let displayed = "";
addEventListener("message", ({ source, origin, data }) => {
  if (source !== parent || origin !== location.origin) return;
  const { markup, style, language, direction, logo, still } = data;
  theme.replaceSync(style);
  document.documentElement.lang = language;
  document.documentElement.dir = direction;
  document.body.inert = still;
  const next = markup + " " + logo;
  if (next === displayed) return;
  displayed = next;
  const drawn = document.createElement("template");
  drawn.innerHTML = markup;
  // A field that takes the focus would scroll the page around the frame to it.
  for (const field of drawn.content.querySelectorAll("[autofocus]")) field.removeAttribute("autofocus");
  place.replaceChildren(drawn.content);
  // The page around the frame has a main landmark of its own.
  for (const main of place.querySelectorAll("main")) main.setAttribute("aria-label", document.title);
  if (logo) showLogo(logo);
});
for (const type of ["click", "submit"])
  addEventListener(type, (event) => {
    if (type === "submit" || event.target.closest("a")) event.preventDefault();
  }, true);
parent.postMessage("${PREVIEW_READY}", location.origin);
`;

/**
 * Makes the document, which is the same for every account.
 *
 * @returns the document, and its style sheet, which the policy of the answer names
 * @throws Error if the pages are not built
 */
export async function previewDocument(): Promise<{ markup: string; styles: string }> {
  const { styles } = await builtGallery();
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preview</title>
<style>${trusted(styles)}</style>
</head>
<body class="stile-body">
<div id="${PICTURE_ID}"></div>
<script>${trusted(previewScript)}</script>
</body>
</html>
`;
  return { markup, styles };
}

import { renderToString } from "react-dom/server";
import { Login } from "../../components/flow/login.tsx";
import { type Drawing, gallery } from "../../components/gallery/gallery.ts";
import { type ShownState, shownDrawing } from "../../components/gallery/shown-drawing.ts";
import { stillServer } from "../../components/gallery/still-server.ts";
import { pageDrawings } from "./page-drawings.ts";
import { type PictureOptions, pagePictures } from "./page-pictures.tsx";

const drawings = new Map(gallery.map((drawing) => [drawing.name, drawing]));

/** Every picture of the gallery, with the state that it shows; null for a page beside the states. */
export const pictures: readonly { name: string; state: string | null }[] = [
  ...gallery.map(({ name, state }) => ({ name, state: state.name })),
  ...Object.keys(pagePictures).map((name) => ({ name, state: null })),
];

/**
 * Draws a picture of the gallery as HTML, as the hosted page has it, without scripts.
 *
 * @returns null if there is no picture of that name
 */
export function drawPicture(name: string, options: PictureOptions): string | null {
  const drawing = drawings.get(name);
  if (drawing) return pictureOf(drawing, options);
  const picture = Object.hasOwn(pagePictures, name) ? pagePictures[name] : undefined;
  return picture ? markupOf(name, picture(options)) : null;
}

/** Draws a state as a user was shown it, with examples in place of values. */
export const drawShownState = (shown: ShownState, options: PictureOptions): string =>
  pictureOf(shownDrawing(shown), options);

function pictureOf(drawing: Drawing, { words, language, ...brand }: PictureOptions): string {
  const { name, flow, state, version, redirectTo, providerReturn = null, opened } = drawing;
  const markup = markupOf(
    name,
    <Login
      {...brand}
      type={flow}
      initial={{ version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) }}
      words={words.flow}
      language={language}
      providerReturn={providerReturn}
      address="https://login.example/"
      server={stillServer(drawing)}
      drawings={pageDrawings}
      signup
    />,
  );
  return opened ? markup.replaceAll("<details", "<details open") : markup;
}

/** Many pictures share a document, so each has ids of its own, and none a title. */
function markupOf(name: string, picture: Parameters<typeof renderToString>[0]): string {
  const markup = renderToString(picture, { identifierPrefix: `${name}-` });
  return markup.replace(/<title>[^<]*<\/title>/, "");
}

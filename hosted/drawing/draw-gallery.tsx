import { renderToString } from "react-dom/server";
import { Login } from "../../components/flow/login.tsx";
import { type Drawing, gallery } from "../../components/gallery/gallery.ts";
import { stillServer } from "../../components/gallery/still-server.ts";
import { pageDrawings } from "./page-drawings.ts";
import { type PictureOptions, pagePictures } from "./page-pictures.tsx";

/** A picture of the gallery as HTML. */
export interface Picture {
  name: string;
  markup: string;
}

/** Draws every picture of the gallery as the hosted page, without scripts. */
export function drawGallery(options: PictureOptions): Picture[] {
  return [
    ...gallery.map((drawing) => ({ name: drawing.name, markup: pictureOf(drawing, options) })),
    ...Object.entries(pagePictures).map(([name, picture]) => ({
      name,
      markup: markupOf(name, picture(options)),
    })),
  ];
}

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

import { renderToString } from "react-dom/server";
import type { FlowWords } from "#words/flow";
import { Login } from "../flow/login.tsx";
import type { BrandProps } from "../ui/brand.tsx";
import { type Drawing, gallery } from "./gallery.ts";
import { stillServer } from "./still-server.ts";

/** A picture of the gallery as HTML. */
export interface Picture {
  name: string;
  markup: string;
}

export interface GalleryOptions extends BrandProps {
  words: FlowWords;
  /** BCP 47 tag of the words. */
  language: string;
}

/** Draws every picture of the gallery as the hosted page, without scripts. */
export function drawGallery(options: GalleryOptions): Picture[] {
  return gallery.map((drawing) => ({ name: drawing.name, markup: pictureOf(drawing, options) }));
}

function pictureOf(drawing: Drawing, { words, language, ...brand }: GalleryOptions): string {
  const { name, flow, state, version, redirectTo, providerReturn = null, opened } = drawing;
  const markup = renderToString(
    <Login
      {...brand}
      type={flow}
      initial={{ version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) }}
      words={words}
      language={language}
      providerReturn={providerReturn}
      address="https://login.example/"
      server={stillServer(drawing)}
      signup
    />,
    // Many pictures share a document.
    { identifierPrefix: `${name}-` },
  ).replace(/<title>[^<]*<\/title>/, "");
  return opened ? markup.replaceAll("<details", "<details open") : markup;
}

/** What the page around a frame of a preview and its document tell each other. */

/** What the page around the frame sends. */
export interface DisplayedPicture {
  /** Of `previewPages`. */
  markup: string;
  /** The style sheet of the theme. */
  style: string;
  /** BCP 47 tag. */
  language: string;
  direction: "ltr" | "rtl";
  /** A `data:` address, in place of our mark and the name of the service. */
  logo: string | null;
  /** Whether nothing in it can be focused: one of many pictures. */
  still: boolean;
}

/** What the frame sends when it can display a picture. */
export const PREVIEW_READY = "stile-preview-ready";

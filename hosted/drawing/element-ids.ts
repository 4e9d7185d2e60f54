/** Ids of the elements of a document: what was drawn, and the properties that it was drawn with. */
export const PAGE_ID = "stile-page";
export const PROPERTIES_ID = "stile-properties";

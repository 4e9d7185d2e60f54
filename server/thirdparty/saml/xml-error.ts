/** A document is not XML, or not of the kind that is read here. `message` repeats nothing of it. */
export class XmlError extends Error {}

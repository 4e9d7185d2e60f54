/** A document is not XML, or is not accepted. `message` contains no input. */
export class XmlError extends Error {}

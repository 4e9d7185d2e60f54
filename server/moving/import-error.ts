/** The input of an import cannot be imported; `message` says why, without data of it. */
export class ImportError extends Error {}

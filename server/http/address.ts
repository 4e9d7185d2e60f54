import type { Handler } from "./handler-context.ts";

/** The body of an error: a flow state, `{code, message}`, or the body of one of the two server-to-server interfaces. */
export type ErrorShape = "flow" | "plain" | "passkeys" | "authenticator";

/**
 * Which requests reach the handler: all; those of our own pages; or, in development, those of this machine. The
 * handler of a public address checks the origin itself where that matters.
 */
export type Access = "public" | "same-origin" | "local-development";

/** One method of one path. */
export interface Address {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A segment in braces matches any segment, and is passed to the handler under that name in `params`. */
  path: string;
  handler: Handler;
  /** The shape of errors that are sent before the handler runs. */
  errorShape: ErrorShape;
  access: Access;
}

/** Every method of one path. */
export interface Route {
  path: string;
  methods: ReadonlyMap<string, Address>;
  errorShape: ErrorShape;
}

/** One row of the table in `addresses.ts`. */
export function address(
  method: Address["method"],
  path: string,
  handler: Handler,
  errorShape: ErrorShape,
  access: Access,
): Address {
  return { method, path, handler, errorShape, access };
}

import type { Handler } from "./handler-context.ts";

/** A flow state; `{code, message}`; or the body of one of the two interfaces for other servers. */
export type Refusals = "flow" | "plain" | "passkeys" | "authenticator";

/** One method of one address. */
export interface Address {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A segment in braces stands for any one segment, which the handler finds under that name in `params`. */
  path: string;
  handler: Handler;
  /** What refusals look like that are given before the handler is asked. */
  refusals: Refusals;
  /**
   * Who may call: anyone; in browsers only pages of our own; or only this machine, and only in development. Other
   * origins are for the handler of what anyone may call to judge.
   */
  from: "anyone" | "own page" | "this machine";
}

/** All methods of one path. */
export interface Route {
  path: string;
  methods: ReadonlyMap<string, Address>;
  refusals: Refusals;
}

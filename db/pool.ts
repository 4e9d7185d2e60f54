import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

/**
 * A pool whose statements count for the work that asks for them. The driver hands a connection that is given back to the
 * next one who waits in the context of the work that gives it back.
 */
export class Pool extends pg.Pool {
  // The driver declares an overload for each form of its arguments.
  // biome-ignore lint/suspicious/noExplicitAny: it returns what the form of the arguments asks for
  override connect(callback?: (...connected: any[]) => void): any {
    return callback ? super.connect(AsyncLocalStorage.bind(callback)) : super.connect();
  }
}

import type pg from "pg";
import { beginWait, unmeasured } from "../server/observability/waits.ts";
import { statementOf } from "./connection.ts";
import { isDatabaseUnreachable, isNodeUnreachable } from "./errors.ts";
import { type BoundStatement, runStatements } from "./extended-query.ts";
import { Pool } from "./pool.ts";

interface Read {
  statement: BoundStatement;
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
}

/** Reads that share a connection: more would wait for each other while other processors are idle. */
const MAX_TOGETHER = 16;

/**
 * A pool in which the prepared statements of one turn of the event loop are sent together, so that requests that arrive
 * together share round trips. Only for reads, which need no transaction of their own: each sees what is committed when it
 * runs.
 *
 * Statements without a name are sent alone, since those are the long ones: lists and exports.
 */
export class ReadPool extends Pool {
  #waiting: Read[] = [];

  // The driver declares an overload for each form of its arguments.
  // biome-ignore lint/suspicious/noExplicitAny: it returns what the form of the arguments asks for
  override query(...[config, values, callback]: unknown[]): any {
    const statement = callback === undefined ? statementOf(config, values) : null;
    if (!statement?.name) return Reflect.apply(super.query, this, [config, values, callback]);
    const endWait = beginWait("database", 1);
    return new Promise<pg.QueryResult>((resolve, reject) => {
      if (this.#waiting.length === 0) unmeasured(() => setImmediate(() => this.#send()));
      const answered = (answer: () => void) => {
        endWait();
        answer();
      };
      this.#waiting.push({
        statement,
        resolve: (result) => answered(() => resolve(result)),
        reject: (error) => answered(() => reject(error)),
      });
    }).catch((error: Error) => {
      // The place that asked says more than the socket's, at which PostgreSQL's answer was read.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #send(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += MAX_TOGETHER)
      void this.#sendTogether(waiting.slice(at, at + MAX_TOGETHER));
  }

  async #sendTogether(reads: readonly Read[]): Promise<void> {
    try {
      const results = await runStatements(
        this,
        reads.map(({ statement }) => statement),
      );
      for (const [index, { resolve }] of reads.entries()) resolve(results[index] as pg.QueryResult);
    } catch (error) {
      // One that fails must not fail the others.
      const isCommonCause = isDatabaseUnreachable(error) && !isNodeUnreachable(error);
      if (reads.length > 1 && !isCommonCause) for (const read of reads) void this.#sendTogether([read]);
      else for (const { reject } of reads) reject(error);
    }
  }
}

import type pg from "pg";
import { StartError } from "../config/errors.ts";

/** `stile move`: a database whose rows are copied into another one is used by neither server nor command meanwhile. */

/** In the database whose rows are moved: where to, and since when they are there. */
export const MOVED_TO = "drizzle.__stile_moved_to";

/** In the database that they are moved into: which move, and since when it is complete. */
export const MOVED_FROM = "drizzle.__stile_moved_from";

/** @throws StartError if the rows of a database are moved to another one, or into it */
export async function refuseMoved(client: Pick<pg.Client | pg.Pool, "query">): Promise<void> {
  const { rows: found } = await client.query<{ isSource: boolean; isTarget: boolean }>(
    `select to_regclass($1) is not null as "isSource", to_regclass($2) is not null as "isTarget"`,
    [MOVED_TO, MOVED_FROM],
  );
  if (found[0]?.isSource) {
    const { rows } = await client.query<{ target: string; isDone: boolean }>(
      `select target, moved_at is not null as "isDone" from ${MOVED_TO}`,
    );
    for (const { target, isDone } of rows)
      throw new StartError(
        isDone
          ? `the database was moved to ${target}: set DATABASE_URL; stile move --undo takes this one into use again`
          : `the database is being moved to ${target}: run stile move until it says OK, or stile move --undo`,
      );
  }
  if (found[0]?.isTarget) {
    const { rows } = await client.query(`select 1 from ${MOVED_FROM} where moved_at is null`);
    if (rows.length > 0)
      throw new StartError("a database is being moved into this one: run stile move until it says OK");
  }
}

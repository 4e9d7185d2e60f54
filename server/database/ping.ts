import { sql } from "drizzle-orm";
import type { Database } from "#db/client";

/**
 * Checks that the database answers.
 *
 * @throws the error of the driver if it does not
 */
export async function pingDatabase({ read }: Pick<Database, "read">): Promise<void> {
  await read.execute(sql`select 1`);
}

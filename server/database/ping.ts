import { sql } from "drizzle-orm";
import type { Database } from "#db/client";

/** @throws the driver's error when the database does not answer */
export async function pingDatabase({ read }: Pick<Database, "read">): Promise<void> {
  await read.execute(sql`select 1`);
}

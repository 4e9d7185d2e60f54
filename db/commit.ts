import type { Database } from "./client.ts";
import { runTogether } from "./together.ts";
import type { Write } from "./write.ts";

/**
 * Commits writes: in one round trip if all of them have parts, otherwise in a transaction. For writes without events.
 *
 * @throws ConflictError if one conflicts with a concurrent change; nothing was written
 */
export async function commit(
  database: Pick<Database, "write" | "claim" | "prepares">,
  writes: readonly Write[],
): Promise<void> {
  const parts = writes.flatMap((write) => write.parts ?? []);
  if (writes.every((write) => write.parts)) {
    const returned = await runTogether<{ [name: string]: unknown }>(database, parts);
    for (const write of writes) write.committed?.(returned);
    return;
  }
  await database.write.transaction(async (tx) => {
    for (const write of writes) await write(tx);
  });
}

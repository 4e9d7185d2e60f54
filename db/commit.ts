import type { Database } from "./client.ts";
import { runTogether } from "./together.ts";
import type { WriteOfParts } from "./write.ts";

/**
 * Commits writes in one round trip. For writes without events.
 *
 * @returns the values that parts return, by their names
 * @throws ConflictError if one conflicts with a concurrent change; nothing was written
 */
export async function commit(
  database: Pick<Database, "write" | "claim" | "prepares">,
  writes: readonly WriteOfParts[],
): Promise<Record<string, unknown>> {
  const parts = writes.flatMap((write) => write.parts);
  const returned = await runTogether<Record<string, unknown>>(database, parts);
  for (const write of writes) write.committed?.(returned);
  return returned;
}

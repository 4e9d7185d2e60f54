import type { Write } from "#db/write";
import type { TestRuntime } from "./runtime.ts";

/** Performs writes in one transaction. */
export function commitWrites({ database }: TestRuntime, ...writes: Write[]): Promise<void> {
  return database.write.transaction(async (tx) => {
    for (const write of writes) await write(tx);
  });
}

import { readNow } from "#db/clock";
import type { Runtime } from "../runtime.ts";

/** Reads the time from the database's clock, by which everything expires. */
export function currentTime({ database, platform }: Pick<Runtime, "database" | "platform">): Promise<Date> {
  return readNow(database.read, platform.clockShift());
}

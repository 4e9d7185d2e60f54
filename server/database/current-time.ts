import { readNow } from "#db/clock";
import type { Runtime } from "../runtime.ts";

/** Returns the time of the database's clock, which decides every expiry. */
export function currentTime({ database, platform }: Pick<Runtime, "database" | "platform">): Promise<Date> {
  return readNow(database.read, platform.clockShift());
}

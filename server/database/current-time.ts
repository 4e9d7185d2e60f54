import type { Databases } from "#db/client";
import { readNow } from "#db/clock";
import type { OnPlatform } from "../lib/platform.ts";

/** Returns the time of the database's clock, which decides every expiry. */
export function currentTime({ database, platform }: Databases & OnPlatform): Promise<Date> {
  return readNow(database.read, platform.clockShift());
}

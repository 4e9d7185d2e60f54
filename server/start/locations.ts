import { readFile } from "node:fs/promises";
import { StartError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import type { Locations } from "../locations/location.ts";
import { readLocations } from "../locations/location-database.ts";

/**
 * Reads `authenticator.location_file` into memory.
 *
 * @throws StartError if the file cannot be read or is not a database of places
 */
export async function loadLocations({
  authenticator,
}: Pick<Config, "authenticator">): Promise<Locations | null> {
  const { location_file: file } = authenticator;
  if (file === undefined) return null;
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`authenticator.location_file cannot be read: ${file} (${error.code})`);
  });
  const read = readLocations(bytes);
  if (!read.ok) throw new StartError(`authenticator.location_file ${read.reason}: ${file}`);
  return read.locations;
}

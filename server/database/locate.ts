import { AddressError, DatabaseHosts } from "#db/hosts";
import { StartError } from "../config/errors.ts";

/**
 * Finds the server of a database that takes its writes, or else one that answers.
 *
 * @param url of one server or several
 * @throws StartError if it is no address, or none of several servers answers
 */
export async function locateDatabase(url: string): Promise<DatabaseHosts> {
  const hosts = hostsOf(url);
  const why = await hosts.locate();
  if (why !== null) throw new StartError(`no server of DATABASE_URL can be reached: ${why}`);
  return hosts;
}

function hostsOf(url: string): DatabaseHosts {
  try {
    return new DatabaseHosts(url);
  } catch (error) {
    if (error instanceof AddressError) throw new StartError(`DATABASE_URL cannot be used: ${error.message}`);
    throw error;
  }
}

import { isReadOnly } from "#db/errors";
import { StartError } from "../config/errors.ts";

/** The database takes no writes: it is a standby, or is set read-only. */
export class ReadOnlyError extends StartError {
  /** @param consequence what cannot be done on it */
  constructor(consequence = "this needs one that takes writes") {
    super(`the database is read-only: ${consequence}`);
  }
}

/** Returns a `ReadOnlyError` for an error that PostgreSQL gives because it takes no writes; any other error as it is. */
export function asReadOnly(error: unknown): unknown {
  return isReadOnly(error) ? new ReadOnlyError() : error;
}

/** What a log line says of an error. */
export interface ErrorDescription {
  type: string;
  code?: string;
  message?: string;
  /** Names of the database's objects that it concerns. */
  constraint?: string;
  stack?: string[];
  cause?: ErrorDescription;
}

/**
 * Describes an error for the log without what people typed: a failed query names its statement but not its
 * parameters, and messages that quote their input (of PostgreSQL's data exceptions, SQLSTATE class 22, and of
 * parsers) are left out.
 *
 * @param error anything that was thrown
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, constraint, query } = error as { code?: unknown; constraint?: unknown; query?: unknown };
  const description: ErrorDescription = { type: error.constructor.name };
  if (typeof code === "string") description.code = code;
  if (typeof constraint === "string") description.constraint = constraint;
  if (typeof query === "string") description.message = `Failed query: ${query}`;
  else if (!quotesInput(error, description.code)) description.message = error.message;
  const frames = error.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  if (frames.length > 0) description.stack = frames.map((line) => line.trim());
  if (error.cause !== undefined && depth < 4) description.cause = describeError(error.cause, depth + 1);
  return description;
}

function quotesInput(error: Error, code: string | undefined): boolean {
  return error instanceof SyntaxError || (code?.length === 5 && code.startsWith("22"));
}

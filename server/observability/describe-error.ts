/** Length of the chain of causes that is described. */
const MAX_CAUSES = 4;

/** Description of an error in a log line. */
export interface ErrorDescription {
  type: string;
  code?: string;
  message?: string;
  /** The violated constraint of the database. */
  constraint?: string;
  stack?: string[];
  cause?: ErrorDescription;
}

/**
 * Describes an error for the log without input of users. Omits the parameters of a failed query, and messages that
 * quote their input: those of PostgreSQL's data exceptions (SQLSTATE class 22) and of parsers.
 *
 * @param error any thrown value
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, constraint, query } = error as { code?: unknown; constraint?: unknown; query?: unknown };
  // The bundler puts an underscore before the name of a class that refers to itself.
  const description: ErrorDescription = { type: error.constructor.name.replace(/^_/, "") };
  if (typeof code === "string") description.code = code;
  if (typeof constraint === "string") description.constraint = constraint;
  if (typeof query === "string") description.message = `Failed query: ${query}`;
  else if (!quotesInput(error, description.code)) description.message = error.message;
  const frames = framesOf(error);
  if (frames.length > 0) description.stack = frames;
  if (error.cause !== undefined && depth < MAX_CAUSES)
    description.cause = describeError(error.cause, depth + 1);
  return description;
}

/** Returns the stack of an error without its first lines, which contain the message. */
export function framesOf({ stack = "" }: Error): string[] {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}

/** Returns true if the message may contain the input that caused the error. */
function quotesInput(error: Error, code: string | undefined): boolean {
  return error instanceof SyntaxError || (code?.length === 5 && code.startsWith("22"));
}

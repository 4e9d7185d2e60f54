/** What may be logged and kept of an error. */
export interface Failure {
  name: string;
  /** Of the system or the library, `ECONNREFUSED` for instance. */
  code?: string;
  /** Reply of a mail server, RFC 5321 4.2. */
  responseCode?: number;
  /** The command that the reply was to. */
  command?: string;
  message?: string;
  /** Where it came from, for errors nobody foresaw. */
  stack?: string;
}

/**
 * Reduces an error to what is safe to write down. A mail server may quote the mail it refuses, and a failed
 * query is reported with its parameters, so a message is kept only when the system or a library wrote all of it.
 */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, responseCode, command, response } = error as Error & Record<string, unknown>;
  const failure: Failure = { name: error.name };
  if (typeof code === "string") failure.code = code;
  if (typeof responseCode === "number") failure.responseCode = responseCode;
  if (typeof command === "string") failure.command = command.split(" ", 1)[0] ?? "";
  if (typeof code === "string" && response === undefined) failure.message = error.message;
  else if (response === undefined && error.stack) failure.stack = frames(error.stack);
  return failure;
}

/** The stack without its first lines, which repeat the message. */
function frames(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim())
    .join("\n");
}

import { framesOf } from "../observability/describe-error.ts";

/** The parts of an error that may be logged and stored. */
export interface Failure {
  name: string;
  /** Error code of the operating system or a library, for instance `ECONNREFUSED`. */
  code?: string;
  /** Reply code of a mail server (RFC 5321, section 4.2). */
  responseCode?: number;
  /** The SMTP command that caused the reply. */
  command?: string;
  message?: string;
  /** Stack frames of an unexpected error. */
  stack?: string;
}

/**
 * Returns the parts of an error that are safe to log. A mail server may quote a rejected mail and the error of a query
 * contains its parameters, so a message is included only if it comes from the operating system or a library.
 */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, responseCode, command, response } = error as Error & Record<string, unknown>;
  const failure: Failure = { name: error.name };
  if (typeof code === "string") failure.code = code;
  if (typeof responseCode === "number") failure.responseCode = responseCode;
  if (typeof command === "string") failure.command = command.split(" ", 1)[0] ?? "";
  if (typeof code === "string" && response === undefined) failure.message = error.message;
  else if (response === undefined && error.stack) failure.stack = framesOf(error).join("\n");
  return failure;
}

/** Returns a failure in a few words: `ECONNREFUSED`, `451 to DATA`, or the name of the error. */
export function summaryOf({ name, code, responseCode, command, message = "" }: Failure): string {
  if (responseCode !== undefined) return `${responseCode}${command ? ` to ${command}` : ""}`;
  // A library replaces the code of the operating system by its own, but not in the message.
  const [systemCode] = /\bE[A-Z]{3,}\b/.exec(message) ?? [];
  return systemCode ?? code ?? name;
}

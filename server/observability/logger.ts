import pino, { type DestinationStream, type Logger } from "pino";
import { describeError } from "./describe-error.ts";

/**
 * Standard output for a process that answers many requests: the lines of one turn of the event loop are one write, since
 * each is a system call. An exit writes what is left; a killed process loses its last turn.
 */
export function gatheredOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  let lines = "";
  const write = () => {
    const gathered = lines;
    lines = "";
    if (gathered !== "") output.write(gathered);
  };
  process.on("exit", write);
  return {
    write(line) {
      if (lines === "") setImmediate(write);
      lines += line;
    },
  };
}

/**
 * Creates the log: one JSON object per line, `time` as ISO 8601 in UTC and `level` as a word.
 *
 * @param destination standard output by default, written line by line
 * @param base fields of every line
 */
export function createLogger(
  level: "silent" | "error" | "warn" | "info" | "debug",
  destination?: DestinationStream,
  base: Record<string, unknown> | null = null,
): Logger {
  return pino(
    {
      level,
      base,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

/** What writes to the log. */
export interface Logs {
  log: Logger;
}

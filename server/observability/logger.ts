import pino, { type DestinationStream, type Logger } from "pino";
import { describeError } from "./describe-error.ts";

/**
 * Creates the log: one JSON object per line, `time` as ISO 8601 in UTC and `level` as a word. Lines are written
 * synchronously, so that none is lost when the process ends.
 *
 * @param destination standard output by default
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

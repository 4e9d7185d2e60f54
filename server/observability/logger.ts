import pino, { type DestinationStream, type Logger } from "pino";
import { describeError } from "./describe-error.ts";

/**
 * The log: one JSON object per line on standard output, `time` as ISO 8601 in UTC and `level` as a word. Lines
 * are written at once and in order, so that none is lost when the process ends.
 *
 * @param destination where lines go instead
 */
export function createLogger(
  level: "silent" | "error" | "warn" | "info" | "debug",
  destination?: DestinationStream,
): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

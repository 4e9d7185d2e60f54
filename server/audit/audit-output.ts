import pino from "pino";
import type { Config } from "../config/schema.ts";

/** Writes a line of the audit log to standard output or standard error. */
export type AuditOutput = (line: string) => void;

const descriptors = { stdout: 1, stderr: 2 };

/**
 * Opens the output that `audit_log.console_output` names. Lines are written synchronously and
 * whole, so that none mixes with those of the log and none is lost when the process ends.
 *
 * @param output default: as configured
 * @returns null if it is off
 */
export function createAuditOutput(
  { audit_log }: Pick<Config, "audit_log">,
  output = audit_log.console_output.output,
): AuditOutput | null {
  const { enabled } = audit_log.console_output;
  if (!enabled) return null;
  const destination = pino.destination({ dest: descriptors[output], sync: true });
  return (line) => {
    destination.write(`${line}\n`);
  };
}

/** What writes audit entries besides the database. */
export interface AuditOutputs {
  /** Null if `audit_log.console_output` is off. */
  auditOutput: AuditOutput | null;
}

import pino from "pino";
import type { Config } from "../config/schema.ts";
import type { AuditEntryJson } from "./audit-entry.ts";

/** Writes or sends an entry of the audit log that was committed. It neither waits nor fails. */
export type AuditOutput = (entry: AuditEntryJson) => void;

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
  return (entry) => {
    destination.write(`${JSON.stringify(entry)}\n`);
  };
}

/** What writes audit entries besides the database. */
export interface AuditOutputs {
  /** Null if entries are neither written (`audit_log.console_output`) nor sent (`server/start/telemetry`). */
  auditOutput: AuditOutput | null;
}

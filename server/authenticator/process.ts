import type { Databases } from "#db/client";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Rates } from "../limits/rate-limits.ts";
import type { Places } from "../locations/location.ts";
import type { Logs } from "../observability/logger.ts";
import type { AuthenticatorJob } from "./push-job.ts";

/** What this room takes of the process. */
export type Process = OnPlatform &
  Databases &
  Logs &
  AuditOutputs &
  Sealing &
  Places &
  Rates &
  Enqueuing<AuthenticatorJob>;

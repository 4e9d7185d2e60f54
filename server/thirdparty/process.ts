import type { Databases } from "#db/client";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Logs } from "../observability/logger.ts";

/** What this room takes of the process. */
export type Process = OnPlatform & Databases & Logs & Sealing & AuditOutputs & WakesWebhooks;

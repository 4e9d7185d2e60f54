import type { Tenant } from "../config/tenant.ts";
import type { Session } from "../objects/session.ts";
import type { Client } from "./client.ts";

/**
 * The context of work, in three widths. `Process` is what the work uses of the process that does it: a room that lies below
 * the engine names the narrow interfaces which it takes, such as `RequestContext<Databases & Sealing>`, and the whole
 * `Runtime` fits them all.
 */

/** A tenant, and the process that serves it. */
export interface TenantContext<Process> {
  runtime: Process;
  tenant: Tenant;
}

/** A client that acts on a tenant at a moment. */
export interface ClientContext<Process> extends TenantContext<Process> {
  client: Client;
  /** Time of the request, by the database's clock. */
  now: Date;
}

/** Context of one request while it is judged. Nothing here writes. */
export interface RequestContext<Process> extends ClientContext<Process> {
  signal: AbortSignal;
  /** The flow whose step it is; absent outside flows. */
  flowId?: string;
  /** Whether the tenant had stored webhooks when the flow was read; absent outside flows. */
  hasStoredWebhooks?: boolean;
  /** The session presented with the request; read by profile flows only. */
  session?: Session;
}

import { type SQL, sql } from "drizzle-orm";
import type { Tenant } from "../config/tenant.ts";
import type { Session } from "../objects/session.ts";

/** The rule of `session.idle_timeout`: a session that was not used for so long ends. */

type Settings = Pick<Tenant, "config">;

/** The limit in milliseconds; null if it is off. */
export function idleLimit({ config }: Settings): number | null {
  const { idle_timeout } = config.session;
  return idle_timeout > 0 ? idle_timeout * 1000 : null;
}

/** When a session ends if it stays unused after this use; null if the limit is off. */
export function idleExpiry(tenant: Settings, lastUsedAt: Date): Date | null {
  const limit = idleLimit(tenant);
  return limit === null ? null : new Date(lastUsedAt.getTime() + limit);
}

/** Sessions that were last used before it are idle for too long; null if the limit is off. */
export function idleSince(tenant: Settings, now: Date): Date | null {
  const limit = idleLimit(tenant);
  return limit === null ? null : new Date(now.getTime() - limit);
}

/** Whether a session is idle for too long. */
export function isIdle(tenant: Settings, { lastUsedAt }: Pick<Session, "lastUsedAt">, now: Date): boolean {
  const since = idleSince(tenant, now);
  return since !== null && lastUsedAt < since;
}

/** The same as a condition on a row of `sessions`. @param seconds the limit of the row's tenant; 0: it is off */
export function isIdleRow(row: string, seconds: SQL): SQL {
  return sql`(${seconds} > 0 and ${sql.raw(row)}.last_used_at < now() - ${seconds} * interval '1 second')`;
}

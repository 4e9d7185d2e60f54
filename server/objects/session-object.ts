import { z } from "zod";
import { isoTime } from "#db/iso-time";
import { consoleRoles } from "#db/schema/console-role";
import type { Impersonation } from "#db/schema/sessions";
import type { Session } from "./session.ts";

const time = z.iso.datetime({ precision: 3 });

/** An account of the console that acts in a session as its user. */
export const impersonatorSchema = z
  .strictObject({
    user_id: z.guid(),
    tenant_id: z.guid().describe("The tenant of that account."),
    role: z.enum(consoleRoles),
    name: z.string().describe("Its primary address or username."),
    reason: z.string().describe("Why, in its words."),
  })
  .meta({ id: "ImpersonatorObject" });

export type ImpersonatorObject = z.infer<typeof impersonatorSchema>;

/** Converts the account that acts in a session to the shape that users and operators see. */
export const impersonatorObject = ({
  userId,
  tenantId,
  role,
  name,
  reason,
}: Impersonation): ImpersonatorObject => ({ user_id: userId, tenant_id: tenantId, role, name, reason });

/** A session as the operator sees it: in the administration API and as the data of `session.*` events. */
export const sessionObjectSchema = z
  .strictObject({
    id: z.guid(),
    user_id: z.guid(),
    user_agent: z.string().nullable().describe("Null if `session.acquire_user_agent` is off."),
    ip_address: z.string().nullable().describe("Null if `session.acquire_ip_address` is off."),
    created_at: time,
    updated_at: time.describe("The same as `last_used`."),
    expires_at: time,
    last_used: time,
    device_bound: z
      .literal(true)
      .optional()
      .describe(
        "Present if the browser has bound the session to a key of its device (`session.device_bound`).",
      ),
    impersonated_by: impersonatorSchema
      .optional()
      .describe("Present if an account of the console acts in the session as the user."),
  })
  .meta({ id: "SessionObject" });

export type SessionObject = z.infer<typeof sessionObjectSchema>;

/** Converts a session to the shape that the operator sees. */
export function sessionObject(
  session: Pick<
    Session,
    "id" | "userId" | "userAgent" | "ipAddress" | "createdAt" | "lastUsedAt" | "expiresAt" | "boundAt"
  > &
    Partial<Pick<Session, "impersonation">>,
): SessionObject {
  const lastUsed = session.lastUsedAt.toISOString();
  return {
    id: session.id,
    user_id: session.userId,
    user_agent: session.userAgent,
    ip_address: session.ipAddress,
    created_at: session.createdAt.toISOString(),
    updated_at: lastUsed,
    expires_at: session.expiresAt.toISOString(),
    last_used: lastUsed,
    ...(session.boundAt === null ? {} : { device_bound: true as const }),
    ...(session.impersonation ? { impersonated_by: impersonatorObject(session.impersonation) } : {}),
  };
}

/**
 * Returns SQL of the same as `jsonb`.
 *
 * @param session name of a row of `sessions`
 */
export function sessionObjectText(session: string): string {
  const time = (column: string) => isoTime(`${session}.${column}`);
  return `jsonb_build_object('id', ${session}.id, 'user_id', ${session}.user_id,
    'user_agent', ${session}.user_agent, 'ip_address', ${session}.ip_address,
    'created_at', ${time("created_at")}, 'updated_at', ${time("last_used_at")},
    'expires_at', ${time("expires_at")}, 'last_used', ${time("last_used_at")})
    || case when ${session}.bound_at is null then '{}'::jsonb else '{"device_bound": true}'::jsonb end
    || case when ${session}.impersonation is null then '{}'::jsonb else jsonb_build_object('impersonated_by',
      jsonb_build_object('user_id', ${session}.impersonation -> 'userId', 'tenant_id', ${session}.impersonation -> 'tenantId',
        'role', ${session}.impersonation -> 'role', 'name', ${session}.impersonation -> 'name',
        'reason', ${session}.impersonation -> 'reason')) end`;
}

import { type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { Databases } from "#db/client";
import { isoTime } from "#db/iso-time";
import { auditEntryJson } from "../audit/audit-entry.ts";
import { auditSentences, type HappeningKind, happeningKinds } from "../audit/audit-sentences.ts";
import { type AuditType, auditTypes } from "../audit/audit-types.ts";
import { failureReasons } from "../audit/failure-reasons.ts";
import { maskSource } from "../audit/mask.ts";
import type { TenantContext } from "../context/context.ts";
import { isUser } from "../identity/users.ts";
import { type AdminVerdict, notFound } from "./rejections.ts";

const kinds = z.enum(happeningKinds);

/** Something that happened to a user. */
export const happeningSchema = z
  .strictObject({
    id: z.guid().describe("That of the entry of the audit log, of the session or of the event."),
    at: z.iso.datetime({ precision: 3 }),
    kind: kinds,
    type: z
      .string()
      .describe("The type of the entry of the audit log, `session_live`, or the name of the event."),
    sentence: z.string().describe("What happened, in English. It contains nothing of the account."),
    reason: z
      .string()
      .optional()
      .describe("What the `reason` in the details of a failure means, in English."),
    by_operator: z.boolean().describe("Whether an operator has done it."),
    request_id: z.string().optional(),
    flow_id: z.string().optional(),
    source_ip: z.string().optional().describe("Masked if the settings of the audit log say so."),
    user_agent: z.string().optional(),
    details: z.record(z.string(), z.unknown()).describe("As the audit log shows them."),
  })
  .meta({ id: "Happening" });

export type Happening = z.output<typeof happeningSchema>;

/** What `next` of a timeline may be, or nothing: milliseconds since 1970 and an id. */
export const timelineCursor = /^$|^\d{1,14}_[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

interface Row extends Record<string, unknown> {
  source: "audit" | "session" | "event";
  id: string;
  at: string;
  type: string;
  request_id: string | null;
  flow_id: string | null;
  ip_address: string | null;
  user_agent: string | null;
  details: Record<string, unknown>;
}

/**
 * Lists what happened to a user, newest first: entries of the audit log, among them those of mails and SMS, live sessions,
 * and events that webhooks were told of. The parts are read by their indexes and merged by time.
 *
 * @param page `after`: `next` of the page before; `kinds`: those that are listed, by default all
 */
export async function readTimeline(
  { runtime, tenant }: TenantContext<Databases>,
  userId: string,
  page: { limit: number; after?: string | undefined; kinds?: readonly HappeningKind[] | undefined },
): Promise<AdminVerdict<{ found: { happenings: Happening[]; next: string | null } }>> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  const [ms = "", id = ""] = (page.after ?? "").split("_");
  const before = (time: SQL, ident: SQL) =>
    id === "" ? sql`` : sql`and (${time}, ${ident}) < (${new Date(Number(ms))}::timestamptz, ${id}::uuid)`;
  const shown = new Set<HappeningKind>(page.kinds ?? happeningKinds);
  const types = auditTypes.filter((type) => shown.has(auditSentences[type].kind));
  const limit = page.limit + 1;
  const ofLog =
    types.length === auditTypes.length ? sql`` : sql`and type = any (${sql.param(types)}::text[])`;
  const parts = [
    ...(types.length === 0
      ? []
      : [
          sql`(select 'audit' as source, id, created_at as at, type, request_id, details ->> 'flow' as flow_id,
              ip_address, user_agent, details
            from audit_logs
            where tenant_id = ${tenant.id} and coalesce(user_id::text, details ->> 'actor_user_id') = ${userId}
              and user_id = ${userId} ${ofLog} ${before(sql`created_at`, sql`id`)}
            order by created_at desc, id desc limit ${limit})`,
        ]),
    ...(shown.has("session")
      ? [
          sql`(select 'session', id, created_at, 'session_live', null, null, ip_address, user_agent,
              jsonb_build_object('last_used_at', ${time("last_used_at")}, 'expires_at', ${time("expires_at")})
                || case when impersonation is null then '{}'::jsonb else jsonb_build_object(
                  'operator', impersonation -> 'userId', 'why', impersonation -> 'reason') end
            from sessions
            where tenant_id = ${tenant.id} and user_id = ${userId} and expires_at > statement_timestamp()
              ${before(sql`created_at`, sql`id`)}
            order by created_at desc, id desc limit ${limit})`,
        ]
      : []),
    ...(shown.has("event")
      ? [
          sql`(select 'event', id, created_at, name, null, flow_id::text, null, null, '{}'::jsonb
            from events
            where tenant_id = ${tenant.id} and subject_id = ${userId} ${before(sql`created_at`, sql`id`)}
            order by created_at desc, id desc limit ${limit})`,
        ]
      : []),
  ];
  const { rows } = await read.execute<Row>(sql`
    select source, id, ${time("at")} as at, type, request_id, flow_id, ip_address, user_agent, details
    from (${sql.join(parts, sql` union all `)}) as happened
    order by happened.at desc, id desc limit ${limit}`);
  const happenings = rows.slice(0, page.limit).map((row) => happeningOf(row, tenant, userId));
  const last = happenings.at(-1);
  const next = rows.length > page.limit && last ? `${Date.parse(last.at)}_${last.id}` : null;
  return { ok: true, found: { happenings, next } };
}

const time = (column: string) => sql.raw(isoTime(column));

const isAuditType = (type: string): type is AuditType => Object.hasOwn(auditSentences, type);

function happeningOf(
  row: Row,
  { id: tenantId, config }: TenantContext<unknown>["tenant"],
  userId: string,
): Happening {
  const common = {
    id: row.id,
    at: row.at,
    type: row.type,
    ...(row.request_id ? { request_id: row.request_id } : {}),
    ...(row.flow_id ? { flow_id: row.flow_id } : {}),
    ...(row.ip_address ? { source_ip: maskSource(row.ip_address, config.audit_log) ?? "" } : {}),
    ...(row.user_agent ? { user_agent: row.user_agent } : {}),
  };
  if (row.source === "event")
    return {
      ...common,
      kind: "event",
      sentence: "Webhooks were told of an event.",
      by_operator: false,
      details: {},
    };
  if (row.source === "session") {
    const isActed = row.details.operator !== undefined;
    return {
      ...common,
      kind: "session",
      sentence: isActed
        ? "A session began in which an operator acts as the user."
        : "A session began, which is live.",
      by_operator: isActed,
      details: row.details,
    };
  }
  const { details, error } = auditEntryJson(
    {
      ...row,
      tenantId,
      userId,
      requestId: row.request_id,
      ipAddress: row.ip_address,
      userAgent: row.user_agent,
      createdAt: new Date(row.at),
    },
    config,
  );
  // A later version may have written entries of types that this one does not know.
  const { kind, sentence } = isAuditType(row.type)
    ? auditSentences[row.type]
    : { kind: "change" as const, sentence: "Something happened that this version has no words for." };
  const reason = meaningOf(row.type, details.reason);
  return {
    ...common,
    kind,
    sentence,
    ...(reason === undefined ? {} : { reason }),
    by_operator: details.by === "admin" || details.api_key !== undefined,
    details: { ...details, ...(error === undefined ? {} : { error }) },
  };
}

function meaningOf(type: string, reason: unknown): string | undefined {
  const meanings = (failureReasons as Record<string, Readonly<Record<string, string>>>)[type];
  return typeof reason === "string" && meanings && Object.hasOwn(meanings, reason)
    ? meanings[reason]
    : undefined;
}

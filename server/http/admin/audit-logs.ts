import { z } from "zod";
import { auditEntryJson, auditEntrySchema } from "../../audit/audit-entry.ts";
import {
  type AuditFilter,
  exportAuditEntries,
  listAuditEntries,
  type ReadAuditRow,
} from "../../audit/audit-log.ts";
import { auditTypes } from "../../audit/audit-types.ts";
import { entriesAbout } from "../../audit/named-user.ts";
import { currentTime } from "../../database/current-time.ts";
import { heavyRead, nextHeavyRead } from "../../database/heavy-reads.ts";
import { csv, instant } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminRow, listOperation } from "./admin-operation.ts";

const part = () => z.string().max(256).optional();

const auditType = z.enum(auditTypes).meta({ id: "AuditType", description: "A type of entries." });

const filters = {
  start_time: instant().optional().describe("Only later entries."),
  end_time: instant().optional().describe("Only earlier entries."),
  type: csv(auditType).optional().describe("Types of entries, repeated or separated by commas."),
  actor_user_id: part().describe("The id of a user, or a part of it."),
  actor_email: part().describe("The email address of an account, or a part of it."),
  meta_source_ip: part().describe("An IP address, or a part of it."),
  identifier: part().describe(
    "An email address or username, in full: entries about it, also of no account, which hold its keyed digest.",
  ),
  q: part().describe("A part of the user's id, of the email address or of the IP address."),
};

const filterQuery = z.object(filters);

async function filterOf(
  { runtime, tenant }: Pick<HandlerContext, "runtime" | "tenant">,
  query: z.output<typeof filterQuery>,
): Promise<AuditFilter> {
  const { identifier } = query;
  return {
    after: query.start_time,
    before: query.end_time,
    types: query.type && query.type.length > 0 ? query.type : undefined,
    actorUserId: query.actor_user_id,
    actorEmail: query.actor_email,
    sourceIp: query.meta_source_ip,
    about: identifier ? await entriesAbout(runtime, tenant, identifier) : undefined,
    any: query.q ? { part: query.q, email: true } : undefined,
  };
}

/** The audit log of the tenant. */
export const auditLogAddresses = [
  listOperation("GET /admin/audit_logs", {
    id: "listAuditLogs",
    summary: "List entries of the audit log, newest first",
    description:
      "Email addresses, usernames and IP addresses are masked as `audit_log` of the settings says.",
    query: filters,
    item: auditEntrySchema,
    counts: "Number of matching entries.",
    async list(context, { query, page }) {
      const { runtime, tenant } = context;
      const filter = await filterOf(context, query);
      const { rows, total } = await heavyRead(runtime.database.read, () =>
        listAuditEntries(runtime.database.read, tenant, filter, page),
      );
      return { items: rows.map((row) => auditEntryJson(row, tenant.config)), total };
    },
  }),
  adminRow("GET /admin/audit_logs/export", {
    id: "exportAuditLogs",
    summary: "Export entries of the audit log as lines of JSON, oldest first",
    description:
      "Ends with the last entry from before the request, or before `end_time`. An answer that breaks off is incomplete; continue with `start_time` just before the last entry.",
    query: filterQuery,
    answers: { 200: { schema: z.string(), mediaType: "application/jsonl" } },
    async handler(context, { query }) {
      const { runtime, tenant } = context;
      const now = await currentTime(runtime);
      const filter = await filterOf(context, query);
      const before = filter.before && filter.before < now ? filter.before : now;
      const batches = exportAuditEntries(runtime.database.read, tenant, { ...filter, before });
      return new Response(context.request.method === "HEAD" ? null : linesOf(context, batches), {
        headers: {
          "Content-Type": "application/jsonl; charset=utf-8",
          "Content-Disposition": 'attachment; filename="audit-log.jsonl"',
        },
      });
    },
  }),
];

/** Streams batches as lines. The next batch is read when the client has taken the one before. */
function linesOf(
  { runtime, tenant, client }: HandlerContext,
  batches: AsyncGenerator<ReadAuditRow[], void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const cancelled = new AbortController();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await nextHeavyRead(
            runtime.database.read,
            () => batches.next(),
            cancelled.signal,
          );
          if (done) return controller.close();
          const lines = value.map((row) => `${JSON.stringify(auditEntryJson(row, tenant.config))}\n`);
          controller.enqueue(encoder.encode(lines.join("")));
        } catch (error) {
          if (cancelled.signal.aborted) return;
          // The status is sent, so that only the end of the connection tells of it.
          runtime.log.error(
            { err: error, request_id: client.requestId },
            "an export of the audit log failed",
          );
          controller.error(error);
        }
      },
      async cancel() {
        cancelled.abort();
        await batches.return();
      },
    },
    { highWaterMark: 0 },
  );
}

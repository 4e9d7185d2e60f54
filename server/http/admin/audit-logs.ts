import { z } from "zod";
import { auditEntryJson, auditEntrySchema } from "../../audit/audit-entry.ts";
import { type AuditFilter, exportAuditEntries, listAuditEntries } from "../../audit/audit-log.ts";
import { auditTypes } from "../../audit/audit-types.ts";
import { entriesAbout, failuresAbout } from "../../audit/named-user.ts";
import { currentTime } from "../../database/current-time.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { csv, instant } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminRow, changeOperation, listOperation } from "./admin-operation.ts";
import { linesOf, streamed } from "./streamed.ts";

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

const DAY_MS = 86_400_000;

const failedSignIns = z.strictObject({
  mask: z.string().describe("How entries show the identifier."),
  user_id: z
    .guid()
    .nullable()
    .describe("The account that has the identifier now, whose entries are its own."),
  is_complete: z.boolean().describe("Whether all failures since `start_time` were passed, and are listed."),
  failures: z.array(
    z.strictObject({
      certain: z.boolean().describe("Whether it is about this identifier. False: its mask is the same."),
      entry: auditEntrySchema,
    }),
  ),
});

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
  changeOperation("GET /admin/failed_sign_ins", {
    id: "findFailedSignIns",
    fromReplica: true,
    summary: "Find sign-ins of an identifier without an account that failed",
    description:
      "The audit log keeps what has no account masked. `certain` failures have the digest of this identifier; the others can only fit its mask, such as `a…a@example.com`, and may be about another identifier, for instance one that was mistyped, or about this one under a key that is no longer in `SECRET_KEYS`. At most 50 000 of the newest failures are passed, and 200 listed.",
    query: z.object({
      identifier: z
        .string()
        .min(1)
        .max(256)
        .describe("An email address, a username or a phone number, in full."),
      start_time: instant().optional().describe("Only later ones. Default: the last 30 days."),
    }),
    answers: { 200: { schema: failedSignIns } },
    async perform({ runtime, tenant, now }, { query }) {
      const since = query.start_time ?? new Date(now.getTime() - 30 * DAY_MS);
      const { userId, mask, failures, isComplete } = await heavyRead(runtime.database.read, () =>
        failuresAbout(runtime, tenant, query.identifier, since),
      );
      return {
        mask,
        user_id: userId,
        is_complete: isComplete,
        failures: failures.map(({ row, isExact }) => ({
          certain: isExact,
          entry: auditEntryJson(row, tenant.config),
        })),
      };
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
      return streamed(
        context,
        linesOf(batches, (row) => auditEntryJson(row, tenant.config)),
        {
          what: "the audit log",
          file: "audit-log.jsonl",
          mediaType: "application/jsonl",
        },
      );
    },
  }),
];

import { z } from "zod";
import { passkeyServerAuditTypes } from "../../audit/audit-types.ts";
import { listPasskeyAuditEntries } from "../../passkey-server/audit-log.ts";
import { json } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";
import { pageHeaders } from "../table/paging.ts";
import { readPage } from "./read-page.ts";
import { invalidRequestReply } from "./request.ts";

const invalidTime = "must be a time such as 2026-01-31T12:00:00Z";

/** RFC 3339. An unencoded plus sign of an offset arrives as a space. */
const moment = z
  .preprocess(
    (text) => (typeof text === "string" ? text.replace(/ (?=\d\d:\d\d$)/, "+") : text),
    z.iso.datetime({ offset: true, error: invalidTime }).optional(),
  )
  .transform((text) => (text === undefined ? undefined : new Date(text)))
  // In UTC the year may be outside the range of a timestamp.
  .refine((time) => !time || (time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999), invalidTime);

const part = z
  .string()
  .max(256, "cannot have more than 256 entries")
  .refine((text) => !text.includes("\0"), "must not contain the character NUL")
  .optional();

const filters = z.object({
  start_time: moment,
  end_time: moment,
  /** Repeated, or separated by commas. */
  type: z
    .array(z.enum(passkeyServerAuditTypes, { error: "contains an unknown type" }))
    .max(256, "cannot have more than 256 entries"),
  actor_user_id: part,
  meta_source_ip: part,
  q: part,
});

/** `GET audit_logs`: the audit log in pages, the newest first. */
export const listAuditLogsHandler: Handler = async ({ runtime, tenant, url }) => {
  const { searchParams: query } = url;
  const read = readPage(query);
  if (!read.ok) return read.reply;
  const { page } = read;
  const one = (name: string) => query.get(name) ?? undefined;
  const parsed = filters.safeParse({
    start_time: one("start_time"),
    end_time: one("end_time"),
    type: query
      .getAll("type")
      .flatMap((names) => names.split(","))
      .map((name) => name.trim()),
    actor_user_id: one("actor_user_id"),
    meta_source_ip: one("meta_source_ip"),
    q: one("q"),
  });
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ path, message }) => `${String(path[0])} ${message}`);
    return invalidRequestReply([...new Set(errors)].join(" and "));
  }
  const { start_time, end_time, type, actor_user_id, meta_source_ip, q } = parsed.data;
  const filter = {
    after: start_time,
    before: end_time,
    types: type.length > 0 ? type : undefined,
    actorUserId: actor_user_id,
    sourceIp: meta_source_ip,
    any: q ? { part: q, email: false } : undefined,
  };
  const { entries, total } = await listPasskeyAuditEntries({ runtime, tenant }, filter, page);
  return json(200, entries, { headers: pageHeaders(tenant.config, url, page, total) });
};

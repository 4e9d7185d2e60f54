import { z } from "zod";
import { auditEntryJson } from "../../audit/audit-entry.ts";
import { listAuditEntries, type ReadAuditRow } from "../../audit/audit-log.ts";
import type { AuditType } from "../../audit/audit-types.ts";
import { entriesAbout } from "../../audit/named-user.ts";
import type { Config } from "../../config/schema.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { type ChannelName, channelNames } from "../../messages/channels.ts";
import { csv, instant, uuid } from "../table/fields.ts";
import { listOperation } from "./admin-operation.ts";

const outcomes = ["queued", "accepted", "failed", "withheld"] as const;

const typeOf = (channel: ChannelName, outcome: (typeof outcomes)[number]): AuditType =>
  `${channel}_${outcome}`;

const message = z
  .strictObject({
    id: z.guid(),
    at: z.iso.datetime({ precision: 3 }),
    channel: z.enum(channelNames),
    outcome: z
      .enum(outcomes)
      .describe(
        "`withheld`: for a recipient without an account, or beyond a limit, so that nothing is sent.",
      ),
    kind: z.string().describe("What the message is for, such as `login`."),
    recipient: z.string().describe("Masked."),
    user_id: z.guid().optional().describe("The account that it is for."),
    request_id: z.string().optional().describe("The request that caused it, the same for all its outcomes."),
    flow_id: z.string().optional(),
    attempts: z.int().optional(),
    answer: z.string().optional().describe("What the server has answered, without addresses and codes."),
    reason: z.string().optional(),
    detail: z.string().optional(),
    last_failure: z.string().optional(),
  })
  .meta({ id: "Message" });

/** Mails and SMS. */
export const messageAddresses = [
  listOperation("GET /admin/messages", {
    id: "listMessages",
    summary: "List what became of mails and SMS, newest first",
    description:
      "Each message has an item when it is queued or withheld, and one when the server accepts it or it is given up. The items are those of the audit log, for as long as `audit_log.retention`.",
    query: {
      channel: z.enum(channelNames).optional(),
      outcome: csv(z.enum(outcomes)).optional().describe("Outcomes, repeated or separated by commas."),
      kind: z.string().min(1).max(64).optional().describe("What the message is for, such as `login`."),
      user_id: uuid().optional(),
      recipient: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe("An email address or a phone number, in full. Entries hold its keyed digest."),
      start_time: instant().optional().describe("Only later items."),
      end_time: instant().optional().describe("Only earlier items."),
    },
    item: message,
    counts: "Number of matching items.",
    async list({ runtime, tenant }, { query, page }) {
      const { recipient, channel, outcome = outcomes } = query;
      const types = channelNames
        .filter((name) => channel === undefined || name === channel)
        .flatMap((name) => outcome.map((one) => typeOf(name, one)));
      const about = recipient === undefined ? undefined : await entriesAbout(runtime, tenant, recipient);
      const { rows, total } = await heavyRead(runtime.database.read, () =>
        listAuditEntries(
          runtime.database.read,
          tenant,
          {
            types,
            // Messages to other addresses of the account that has this one are none to it.
            about: about && { ...about, userId: null },
            message: query.kind,
            actorUserId: query.user_id,
            after: query.start_time,
            before: query.end_time,
          },
          page,
        ),
      );
      return { items: rows.map((row) => messageOf(row, tenant.config)), total };
    },
  }),
];

function messageOf(row: ReadAuditRow, config: Config): z.output<typeof message> {
  const { id, created_at, type, details, meta_http_request_id, actor_user_id } = auditEntryJson(row, config);
  const channel = channelNames.find((name) => type.startsWith(`${name}_`)) ?? "mail";
  const text = (name: string) => {
    const value = details[name];
    return typeof value === "string" ? value : undefined;
  };
  const given = {
    user_id: actor_user_id,
    request_id: meta_http_request_id || undefined,
    flow_id: text("flow"),
    attempts: typeof details.attempts === "number" ? details.attempts : undefined,
    answer: text("answer"),
    reason: text("reason"),
    detail: text("detail"),
    last_failure: text("last_failure"),
  };
  return {
    id,
    at: created_at,
    channel,
    outcome: outcomes.find((name) => type === typeOf(channel, name)) ?? "queued",
    kind: text(channel) ?? "",
    recipient: text("recipient") ?? "",
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

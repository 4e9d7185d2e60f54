import { z } from "zod";
import { rejectAdmin } from "../../admin/rejections.ts";
import { MAX_STATISTICS_DAYS, readStatistics } from "../../admin/statistics.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { changeOperation } from "./admin-operation.ts";

const DAY_MS = 86_400_000;

const count = z.int().min(0);
const day = () => z.iso.date().refine((text) => text >= "0001-01-01", "must be a day such as 2026-01-31");

const statistics = z.strictObject({
  from: z.iso.date(),
  to: z.iso.date(),
  users: z.strictObject({
    total: count,
    blocked: count,
    new_by_day: z.record(z.iso.date(), count).describe("Days without new users are absent."),
  }),
  sign_ins: z.strictObject({
    since: z.iso
      .datetime({ precision: 3 })
      .nullable()
      .describe(
        "Earlier sign-ins are no longer known: `audit_log.retention`. Null: none is, because `audit_log.storage` is off.",
      ),
    total: count,
    by_day: z
      .record(
        z.iso.date(),
        z.strictObject({
          total: count,
          methods: z.record(z.string(), count).describe("A sign-in with two factors counts for both."),
        }),
      )
      .describe("Days without sign-ins are absent."),
  }),
});

/** Numbers of users and sign-ins. */
export const statisticsAddresses = [
  changeOperation("GET /admin/statistics", {
    id: "getStatistics",
    fromReplica: true,
    summary: "Count users, and sign-ins by day and method",
    description: `Days are those of UTC. A range has at most ${MAX_STATISTICS_DAYS} days; by default it is the last 30.`,
    query: z.object({
      from: day().optional().describe("First day."),
      to: day().optional().describe("Last day."),
    }),
    answers: { 200: { schema: statistics } },
    async perform(context, { query }) {
      const { runtime, tenant, now } = context;
      const dayAt = (time: number) => new Date(time).toISOString().slice(0, 10);
      const to = query.to ?? dayAt(now.getTime());
      const from = query.from ?? dayAt(Math.max(Date.parse(to) - 29 * DAY_MS, Date.parse("0001-01-01")));
      const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
      if (days < 1 || days > MAX_STATISTICS_DAYS)
        return rejectAdmin(
          "invalid",
          `The query is invalid: from must be at most ${MAX_STATISTICS_DAYS - 1} days before to.`,
        );
      const { users, sign_ins } = await heavyRead(runtime.database.read, () =>
        readStatistics(context, { from, to }),
      );
      const { storage, retention } = tenant.config.audit_log;
      const since = storage.enabled ? new Date(now.getTime() - retention * 1000).toISOString() : null;
      return { from, to, users, sign_ins: { since, ...sign_ins } };
    },
  }),
];

import { z } from "zod";
import { happeningSchema, readTimeline, timelineCursor } from "../../admin/user-timeline.ts";
import { happeningKinds } from "../../audit/audit-sentences.ts";
import { csv } from "../table/fields.ts";
import { adminOperation } from "./admin-operation.ts";

/** What happened to users. */
export const timelineAddresses = [
  adminOperation("GET /admin/users/{id}/timeline", {
    id: "getUserTimeline",
    summary: "List what happened to a user, newest first",
    description:
      "Sign-ins, changes, mails, SMS and sessions from the audit log, live sessions, and events that webhooks were told of. It reaches back as far as `audit_log.retention` and `webhooks.retention`.",
    query: z.object({
      kind: csv(z.enum(happeningKinds)).optional().describe("What is listed. Default: everything."),
      limit: z.int().min(1).max(100).default(50),
      after: z.string().max(64).regex(timelineCursor).optional().describe("`next` of the page before."),
    }),
    answers: {
      200: {
        schema: z.strictObject({
          happenings: z.array(happeningSchema),
          next: z.string().nullable().describe("`after` of the next page; null for the last one."),
        }),
      },
    },
    perform: (context, { params, query: { kind: kinds, ...page } }) =>
      readTimeline(context, params.id, { ...page, kinds }),
    show: ({ found }) => found,
  }),
];

import { z } from "zod";
import { heavyRead } from "../../database/heavy-reads.ts";
import { flowTypes, stateNames } from "../../flow/names.ts";
import { flowObject, flowSchema, flowWithSteps, flowWithStepsSchema } from "../../recorder/flow-object.ts";
import { outcomes } from "../../recorder/record-steps.ts";
import { listRecordedFlows, readRecordedFlow } from "../../recorder/recorded-flows.ts";
import {
  parseSupportNumber,
  SUPPORT_NUMBER_LENGTH,
  supportLetters,
} from "../../recorder/written-support-number.ts";
import { documentedAs, instant, uuid } from "../table/fields.ts";
import { adminOperation, listOperation } from "./admin-operation.ts";

const shownNumber = z
  .string()
  .regex(new RegExp(`^[${supportLetters}]{${SUPPORT_NUMBER_LENGTH}}$`))
  .meta({ example: "BCDFGHJK" });

/** Eight letters, in groups or not, in either case. */
const supportNumber = documentedAs(
  z
    .string()
    .max(32)
    .transform((text, context) => {
      const number = parseSupportNumber(text);
      if (number !== null) return number;
      context.addIssue({ code: "custom", message: "must be the eight letters that a page shows" });
      return z.NEVER;
    }),
  shownNumber,
);

const filters = {
  support_number: supportNumber.optional().describe("What a user reads from the foot of the page."),
  user_id: uuid().optional().describe("The account that flows are about."),
  state: z.enum(stateNames).optional().describe("The state that was answered last."),
  outcome: z.enum(outcomes).optional(),
  type: z.enum(flowTypes).optional(),
  request_id: z
    .string()
    .max(64)
    .optional()
    .describe("A request that was a step, by `X-Request-ID`, as the log and the audit log have it."),
  since: instant().optional().describe("Only flows that were started then or later."),
  until: instant().optional().describe("Only flows that were started earlier."),
};

/** What is recorded of the flows of the tenant. */
export const flowAddresses = [
  listOperation("GET /admin/flows", {
    id: "listFlows",
    summary: "List recorded flows, those that were started last first",
    description: "Flows are recorded while `recorder.enabled` is on, and kept for `recorder.retention`.",
    query: filters,
    item: flowSchema,
    counts: "Number of matching flows, at most 10 000.",
    async list({ runtime, tenant }, { query, page }) {
      const { support_number, user_id, request_id, ...same } = query;
      const filter = {
        ...same,
        supportNumber: support_number,
        userId: user_id,
        requestId: request_id,
      };
      const { rows, total } = await heavyRead(runtime.database.read, () =>
        listRecordedFlows(runtime.database.read, tenant, filter, page),
      );
      return { items: rows.map(flowObject), total };
    },
  }),
  adminOperation("GET /admin/flows/{id}", {
    id: "getFlow",
    summary: "Show what happened in a flow, what was offered, and why the rest was not",
    description: "At most the first 1000 steps. They have no value that a user entered.",
    answers: { 200: { schema: flowWithStepsSchema } },
    perform: ({ runtime, tenant }, { params }) => readRecordedFlow(runtime.database.read, tenant, params.id),
    show: flowWithSteps,
  }),
];

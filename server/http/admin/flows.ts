import { z } from "zod";
import { rejectAdmin } from "../../admin/rejections.ts";
import type { Config } from "../../config/schema.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { thisRelease } from "../../database/releases.ts";
import { flowTypes, stateNames } from "../../flow/names.ts";
import { flowObject, flowSchema, flowWithSteps, flowWithStepsSchema } from "../../recorder/flow-object.ts";
import { outcomes } from "../../recorder/record-steps.ts";
import {
  listRecordedFlows,
  readRecordedFlow,
  readRecordedWithSettings,
} from "../../recorder/recorded-flows.ts";
import {
  parseSupportNumber,
  SUPPORT_NUMBER_LENGTH,
  supportLetters,
} from "../../recorder/written-support-number.ts";
import { type BundleResult, bundleOf, bundleSchema } from "../../replay/bundle.ts";
import { replay } from "../../replay/replay.ts";
import { replayedObject, replayedSchema } from "../../replay/replayed-object.ts";
import { judgeSettings } from "../../tenants/manage-tenants.ts";
import { documentedAs, instant, uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminOperation, listOperation, NOT_FOUND } from "./admin-operation.ts";
import { changingParty, FORBIDDEN, INVALID, patched, rejecting, settingsPatch } from "./tenants.ts";

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

const NOT_REPLAYABLE = "What decided a step was not recorded; the message tells which.";

/** The bundle of a recorded flow, or why there is none; null if the tenant has no such flow. */
async function bundleOfFlow({ runtime, tenant }: HandlerContext, id: string): Promise<BundleResult | null> {
  const { read } = runtime.database;
  const found = await heavyRead(read, () => readRecordedWithSettings(read, tenant, id));
  return found && bundleOf(found, thisRelease().version);
}

const settingsOfReplay = ["recorded", "current"] as const;

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
  adminOperation("GET /admin/flows/{id}/bundle", {
    id: "exportFlow",
    summary: "Export what a flow was decided by, for a replay",
    description:
      "The bundle has no secret, no value that a user entered, and no text of the settings. `stile flow replay` performs it.",
    answers: { 200: { schema: bundleSchema }, 404: NOT_FOUND, 409: NOT_REPLAYABLE },
    async perform(context, { params }) {
      const result = await bundleOfFlow(context, params.id);
      return result && ("fault" in result ? rejectAdmin("conflict", result.fault) : result.bundle);
    },
  }),
  adminOperation("POST /admin/flows/{id}/replay", {
    id: "replayFlow",
    changesNothing: true,
    summary: "Perform a recorded flow again, and tell how it differs",
    description:
      "The engine of this version judges each step by what was recorded of it. Nothing is read of accounts, sent or changed.",
    body: z.object({
      settings: z
        .enum(settingsOfReplay)
        .default("recorded")
        .describe("Those that the flow was recorded with, or those of the tenant now."),
      config: settingsPatch()
        .optional()
        .describe(
          "A JSON Merge Patch (RFC 7396) of the settings of the tenant now; of the default tenant, one of the server's configuration.",
        ),
    }),
    answers: {
      200: { schema: replayedSchema },
      400: INVALID,
      403: FORBIDDEN,
      404: NOT_FOUND,
      409: NOT_REPLAYABLE,
    },
    perform: (context, { params, body }) =>
      rejecting(async () => {
        const result = await bundleOfFlow(context, params.id);
        if (!result) return null;
        if ("fault" in result) return rejectAdmin("conflict", result.fault);
        return replay(result.bundle, await configOfReplay(context, body));
      }),
    show: replayedObject,
  }),
];

/** The configuration that a flow is performed against; undefined for the recorded one. */
async function configOfReplay(
  context: HandlerContext,
  {
    settings,
    config: patch,
  }: { settings: (typeof settingsOfReplay)[number]; config?: Record<string, unknown> | undefined },
): Promise<Config | undefined> {
  const { runtime, tenant } = context;
  if (!patch) return settings === "current" ? tenant.config : undefined;
  const change = (current: Record<string, unknown>) => patched(current, patch);
  return (await judgeSettings(runtime, tenant.id, change, changingParty(context))).changed;
}

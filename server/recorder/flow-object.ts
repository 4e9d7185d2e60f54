import { z } from "zod";
import { meaningOf } from "../audit/failure-reasons.ts";
import { embeddings } from "../context/client.ts";
import { flowTypes } from "../flow/names.ts";
import { type Reasons, verdicts } from "../flow/observed-step.ts";
import { sentenceOf } from "../flow/reasons.ts";
import { outcomes } from "./record-steps.ts";
import type { RecordedFlow, RecordedStep } from "./recorded-flows.ts";
import { readReasons } from "./stored-reasons.ts";

/** Recorded flows as operators see them. Names that another version has recorded stay as they are. */

const time = z.iso.datetime({ precision: 3 });
const milliseconds = z.number().min(0);

export const flowSchema = z.strictObject({
  id: z.guid(),
  support_number: z.string().describe("What the page shows its user, in two groups of four."),
  type: z.string().describe(`One of ${flowTypes.join(", ")}.`),
  state: z.string().nullable().describe("The state that was answered last."),
  outcome: z
    .string()
    .describe(
      `One of ${outcomes.join(", ")}. \`rejected\`: the last step was not performed. A flow that is not completed within \`flow.lifetime\` was given up.`,
    ),
  user_id: z.guid().nullable().describe("The account that the flow is about, once it is known."),
  user_exists: z
    .boolean()
    .describe(
      "Whether there is that account: a registration makes it at its end, and it may have been deleted.",
    ),
  steps: z.int().min(0),
  started_at: time,
  last_step_at: time,
});

const reasons = z
  .array(
    z.strictObject({
      name: z.string(),
      reasons: z.array(
        z.strictObject({
          name: z.string().describe("Kind and subject of what decided, after `!` if it does not hold."),
          sentence: z.string().describe("The name again where this version does not know it."),
        }),
      ),
    }),
  )
  .describe("By name, what decided when the answer was made.");

const stepSchema = z.strictObject({
  at: time,
  from: z
    .string()
    .nullable()
    .describe("Null for a start without an action, and where the flow was not read."),
  action: z.string().nullable(),
  verdict: z
    .string()
    .describe(
      `One of ${verdicts.join(", ")}. \`error\`: the action was rejected; \`refused\`: it was not judged; \`failed\`: an unexpected error.`,
    ),
  state: z
    .string()
    .nullable()
    .describe("The state that was answered; null if the answer showed none of the flow."),
  error: z.string().nullable(),
  reason: z
    .strictObject({
      name: z.string().describe("As in the audit log."),
      sentence: z.string().describe("The name again where this version does not know it."),
    })
    .nullable()
    .describe("Why the action failed, which the user is not told; null where the error says it all."),
  milliseconds: z.strictObject({
    total: milliseconds,
    database: milliseconds,
    hash: milliseconds,
    provider: milliseconds,
    rest: milliseconds,
  }),
  statements: z.int().min(0).describe("Statements that were sent to the database."),
  shown_for_ms: milliseconds.nullable().describe("How long the state before was shown."),
  request_id: z.string(),
  source: z.string().describe("The network of the client: an IPv4 /24, an IPv6 /48."),
  client: z.strictObject({
    platform: z.string().nullable(),
    browser: z.string().nullable(),
    embedding: z.string().describe(`One of ${embeddings.join(", ")}.`),
    capabilities: z.array(z.string()).nullable().describe("Null if it was not asked."),
  }),
  inputs: z
    .array(z.strictObject({ name: z.string(), kind: z.string(), length: z.int().min(0).nullable() }))
    .describe("What was sent, without values."),
  not_offered: z.strictObject({ actions: reasons, states: reasons }),
});

export const flowWithStepsSchema = flowSchema.extend({ path: z.array(stepSchema) });

/** Inputs as they are stored; none where no version has stored it so. */
const storedInputs = z.array(z.tuple([z.string(), z.string(), z.int().min(0).nullable()])).catch([]);

export type FlowObject = z.output<typeof flowSchema>;
export type StepObject = z.output<typeof stepSchema>;

export function flowObject(row: RecordedFlow): FlowObject {
  return {
    id: row.id,
    support_number: row.supportNumber,
    type: row.type,
    state: row.state,
    outcome: row.outcome,
    user_id: row.userId,
    user_exists: row.userExists,
    steps: row.steps,
    started_at: row.startedAt.toISOString(),
    last_step_at: row.lastStepAt.toISOString(),
  };
}

export function flowWithSteps({ flow, steps }: { flow: RecordedFlow; steps: readonly RecordedStep[] }) {
  return { ...flowObject(flow), path: steps.map(stepObject) };
}

function stepObject(row: RecordedStep): StepObject {
  const { milliseconds: total, databaseMs: database, hashMs: hash, providerMs: provider } = row;
  const rest = Math.max(0, Math.round((total - database - hash - provider) * 100) / 100);
  const notOffered = readReasons(row.notOffered);
  return {
    at: row.at.toISOString(),
    from: row.fromState,
    action: row.action,
    verdict: row.verdict,
    state: row.state,
    error: row.error,
    reason: row.reason === null ? null : { name: row.reason, sentence: meaningOf(row.reason) },
    milliseconds: { total, database, hash, provider, rest },
    statements: row.statements,
    shown_for_ms: row.inStateMs,
    request_id: row.requestId,
    source: row.source,
    client: {
      platform: row.platform,
      browser: row.browser,
      embedding: row.embedding,
      capabilities: row.capabilities === null ? null : row.capabilities.split(" ").filter(Boolean),
    },
    inputs: storedInputs.parse(row.inputs).map(([name, kind, length]) => ({ name, kind, length })),
    not_offered: {
      actions: explained(notOffered?.actions ?? {}),
      states: explained(notOffered?.states ?? {}),
    },
  };
}

function explained(withheld: Reasons): StepObject["not_offered"]["actions"] {
  return Object.entries(withheld).map(([name, names]) => ({
    name,
    reasons: names.map((reason) => ({ name: reason, sentence: sentenceOf(reason) })),
  }));
}

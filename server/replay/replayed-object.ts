import { z } from "zod";
import type { ChangedSetting } from "../config/impersonal-settings.ts";
import { flowTypes } from "../flow/names.ts";
import type { Reasons } from "../flow/observed-step.ts";
import { sentenceOf } from "../flow/reasons.ts";
import { type Difference, differenceKinds } from "./differences.ts";
import type { StepAnswer } from "./perform-again.ts";
import type { Replayed } from "./replay.ts";

/** A replay as operators see it. */

const reason = z.strictObject({
  name: z.string().describe("Kind and subject of what decided, after `!` if it does not hold."),
  sentence: z.string().describe("The name again where this version does not know it."),
});

const changedSetting = z.strictObject({
  name: z.string(),
  before: z
    .string()
    .describe("The recorded value, as JSON of at most 200 characters. `~` stands for a text."),
  now: z.string(),
});

const differenceSchema = z.strictObject({
  step: z.int().min(1),
  kind: z
    .enum(differenceKinds)
    .describe(
      "`action`: the action of the step is offered or is not; `withheld`, `offered`: another action of the state; `inputs`: of an action; `reasons`: of what is the same; `unknown`: this version does not know a name, or what is recorded.",
    ),
  about: z.string().nullable().describe("The action or the state that it is about."),
  recorded: z.string().nullable(),
  now: z.string().nullable(),
  decided_then: z.array(reason).describe("What decided when it was recorded, where that differs."),
  decided_now: z.array(reason),
  settings: z
    .array(changedSetting)
    .describe("The settings that differ and could have caused it: at most 20."),
});

const named = z.array(z.strictObject({ name: z.string(), reasons: z.array(reason) }));

const answerSchema = z.strictObject({
  verdict: z.string(),
  state: z.string().nullable().describe("Null: the answer shows no state of the flow."),
  error: z.string().nullable(),
  offered: z.array(z.string()),
  not_offered: z.strictObject({ actions: named, states: named }),
});

export const replayedSchema = z
  .strictObject({
    version: z.string().describe("The version that exported the bundle."),
    type: z.enum(flowTypes),
    first_difference: differenceSchema
      .nullable()
      .describe("Null: none. What the flow does comes before what differs in reasons alone."),
    differences: z.array(differenceSchema).describe("At most 200."),
    settings: z.array(changedSetting).describe("Settings that differ from the recorded ones."),
    steps: z.array(
      z.strictObject({
        action: z.string().nullable(),
        from: z.string().nullable(),
        at_ms: z.number().nullable().describe("Since the flow was started. Null: nothing was judged."),
        recorded: answerSchema,
        now: answerSchema
          .nullable()
          .describe("Null: nothing was judged then, or the flow takes another way before it."),
      }),
    ),
  })
  .meta({ id: "ReplayedFlow" });

export type ReplayedObject = z.output<typeof replayedSchema>;

export function replayedObject({
  version,
  type,
  first,
  differences,
  settings,
  steps,
}: Replayed): ReplayedObject {
  return {
    version,
    type,
    first_difference: first && shownDifference(first),
    differences: differences.map(shownDifference),
    settings: settings.map(shownSetting),
    steps: steps.map(({ action, from, at, recorded, now }) => ({
      action,
      from,
      at_ms: at,
      recorded: shownAnswer(recorded),
      now: now && shownAnswer(now),
    })),
  };
}

/** Characters of the value of a setting: maps and lists may have many. */
const MAX_VALUE_CHARACTERS = 200;

const shownSetting = ({ name, before, now }: ChangedSetting) => ({
  name,
  before: JSON.stringify(before).slice(0, MAX_VALUE_CHARACTERS),
  now: JSON.stringify(now).slice(0, MAX_VALUE_CHARACTERS),
});

/** Settings that are told with each of up to 200 differences. */
const MAX_SETTINGS_OF_DIFFERENCE = 20;

const shownDifference = ({ decidedThen, decidedNow, settings, ...rest }: Difference) => ({
  ...rest,
  settings: settings.slice(0, MAX_SETTINGS_OF_DIFFERENCE).map(shownSetting),
  decided_then: decidedThen,
  decided_now: decidedNow,
});

const shownAnswer = ({ notOffered, ...answer }: StepAnswer) => ({
  ...answer,
  not_offered: { actions: shownReasons(notOffered.actions), states: shownReasons(notOffered.states) },
});

const shownReasons = (reasons: Reasons) =>
  Object.entries(reasons).map(([name, names]) => ({
    name,
    reasons: names.map((of) => ({ name: of, sentence: sentenceOf(of) })),
  }));

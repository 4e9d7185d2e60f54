import { setImmediate } from "node:timers/promises";
import {
  type ChangedSetting,
  changedSettings,
  configOfImpersonal,
  impersonalSettings,
} from "../config/impersonal-settings.ts";
import type { Config } from "../config/schema.ts";
import type { FlowRecord } from "../flow/data.ts";
import type { FlowType } from "../flow/names.ts";
import type { Bundle, BundleStep } from "./bundle.ts";
import { type Difference, difference, differencesOf } from "./differences.ts";
import { performAgain, type StepAnswer } from "./perform-again.ts";

/**
 * Performs a recorded flow again. The engine that performs steps of clients judges it; what that takes from outside is
 * what was recorded: nothing is read, run, hashed, sent or written.
 */

export interface ReplayedStep {
  action: string | null;
  from: string | null;
  /** Milliseconds since the flow was started; null if nothing was judged. */
  at: number | null;
  recorded: StepAnswer;
  /** Null: it was not performed, because nothing was judged then, or the flow takes another way before it. */
  now: StepAnswer | null;
}

export interface Replayed {
  version: string;
  type: FlowType;
  /** Null: none. One in what the flow does comes before one in reasons alone. */
  first: Difference | null;
  differences: Difference[];
  steps: ReplayedStep[];
  /** Settings that differ from those that the first step was judged by. */
  settings: ChangedSetting[];
}

/**
 * Performs a flow again and tells how it differs.
 *
 * @param config that it is performed against. Default: the recorded ones
 */
export async function replay(bundle: Bundle, config?: Config): Promise<Replayed> {
  const changed = config && impersonalSettings(config);
  const configs = bundle.settings.map((settings) => configOfImpersonal(changed ?? settings));
  // A setting that the recording version did not have stood at its default.
  const recordedSettings = changed
    ? bundle.settings.map((settings) => impersonalSettings(configOfImpersonal(settings)))
    : bundle.settings;
  const [first = {}] = recordedSettings;
  const steps: ReplayedStep[] = [];
  const differences: Difference[] = [];
  let record: FlowRecord | null = null;
  let hasLeft = false;
  for (const [index, step] of bundle.steps.entries()) {
    if (index % STEPS_IN_A_TURN === STEPS_IN_A_TURN - 1) await setImmediate();
    const { decided_by: decided } = step;
    const replayed: ReplayedStep = {
      action: step.action,
      from: step.from,
      at: decided?.at ?? null,
      recorded: recordedAnswer(step),
      now: null,
    };
    steps.push(replayed);
    if (!decided || hasLeft) continue;
    const position = {
      step: index + 1,
      bundleStep: step,
      type: bundle.type,
      changes: changed ? changedSettings(recordedSettings[step.settings] ?? first, changed) : [],
    };
    const performed = await performAgain(
      bundle.type,
      record,
      step,
      decided,
      configs[step.settings] as Config,
    );
    if ("unknown" in performed) {
      differences.push(difference(position, "unknown", { now: performed.unknown }));
      hasLeft = true;
      continue;
    }
    replayed.now = performed.answer;
    differences.push(...differencesOf(position, replayed, performed));
    record = performed.record;
    hasLeft = performed.answer.state !== step.state;
  }
  const inEffect = differences.find(({ kind }) => kind !== "reasons");
  return {
    version: bundle.version,
    type: bundle.type,
    first: inEffect ?? differences[0] ?? null,
    differences: differences.slice(0, MAX_DIFFERENCES),
    steps,
    settings: changed ? changedSettings(first, changed) : [],
  };
}

/** Steps that are performed in one go; sign-ins get their turn in between. */
const STEPS_IN_A_TURN = 50;

/** Differences that are told; a change of one condition may appear at each step. */
const MAX_DIFFERENCES = 200;

function recordedAnswer({ verdict, state, error, decided_by, not_offered }: BundleStep): StepAnswer {
  return {
    verdict,
    state,
    error,
    offered: Object.keys(decided_by?.offered ?? {}),
    notOffered: not_offered,
  };
}

import { z } from "zod";
import { type FlowType, flowTypes, isStateName } from "../flow/names.ts";
import { states } from "../flow/states/index.ts";
import { stepSkeleton } from "../flow/step-skeleton.ts";
import { isNestedDeeperThan } from "../lib/nesting.ts";
import type { RecordedFlow, RecordedStep } from "../recorder/recorded-flows.ts";
import { readReasons } from "../recorder/stored-reasons.ts";
import { readSettings } from "../recorder/stored-settings.ts";
import { readSkeleton } from "../recorder/stored-skeletons.ts";

/** A recorded flow as a file: what it was decided by, without secrets and personal data, and what was answered. */

/** A version reads bundles of this format alone. */
const BUNDLE_FORMAT = 1;

/** Characters of JSON. A flow of a thousand steps has fewer. */
export const MAX_BUNDLE_CHARACTERS = 2_000_000;

const MAX_STEPS = 1_000;

/** Settings have the deepest values. */
const MAX_LEVELS = 32;

const name = z.string().max(128);
const reasons = z.record(name, z.array(name).max(200).readonly());

export const bundleSchema = z
  .strictObject({
    format: z.literal(BUNDLE_FORMAT).describe("That of the bundle. Another one is not read."),
    version: z.string().max(64).describe("The version of Stile that has exported it."),
    type: z.enum(flowTypes),
    settings: z
      .array(z.record(z.string().max(128), z.unknown()))
      .min(1)
      .max(16)
      .describe("The settings that the steps were judged by, without secrets and texts of the operator."),
    steps: z
      .array(
        z.strictObject({
          action: name.nullable(),
          verdict: name,
          from: name.nullable(),
          state: name.nullable(),
          error: name.nullable(),
          not_offered: z.strictObject({ actions: reasons, states: reasons }),
          settings: z.int().min(0).max(15).describe("Position of the settings of the step."),
          decided_by: stepSkeleton
            .nullable()
            .describe("What the step was decided by, without values; null if nothing was judged."),
        }),
      )
      .min(1)
      .max(MAX_STEPS),
  })
  .meta({ id: "FlowBundle" });

export type Bundle = z.output<typeof bundleSchema>;
export type BundleStep = Bundle["steps"][number];

/** A bundle, or why there is none, as one sentence. */
export type BundleResult = { bundle: Bundle } | { fault: string };

/** What is recorded of a flow. */
export interface Recorded {
  flow: RecordedFlow;
  steps: readonly RecordedStep[];
  /** Settings by their digests, in hex. */
  settings: ReadonlyMap<string, Buffer>;
}

/** Makes the bundle of a recorded flow. @param version of this service */
export function bundleOf({ flow, steps, settings }: Recorded, version: string): BundleResult {
  const shown: Bundle["settings"] = [];
  const positions = new Map<string, number>();
  const told: BundleStep[] = [];
  for (const [index, row] of steps.entries()) {
    const stored = readSkeleton(row.decidedBy);
    if (!stored && isJudged(row)) return { fault: faultOf(row, index + 1) };
    const digest = stored?.settings.toString("hex");
    if (digest !== undefined && !positions.has(digest)) {
      const kept = settings.get(digest);
      const tree = kept && (readSettings(kept) as Bundle["settings"][number] | null);
      if (!tree) return { fault: `The settings of step ${index + 1} were not recorded.` };
      positions.set(digest, shown.push(tree) - 1);
    }
    told.push({
      action: row.action,
      verdict: row.verdict,
      from: row.fromState,
      state: row.state,
      error: row.error,
      not_offered: readReasons(row.notOffered) ?? { actions: {}, states: {} },
      settings: digest === undefined ? 0 : (positions.get(digest) ?? 0),
      decided_by: stored?.skeleton ?? null,
    });
  }
  const lost = lostBefore(told);
  if (lost !== null)
    return {
      fault:
        lost === 1
          ? "The first step of the flow was not recorded, so it cannot be replayed."
          : `Steps between ${lost - 1} and ${lost} were not recorded, so the flow cannot be replayed.`,
    };
  if (shown.length === 0) return { fault: "No step of the flow was judged." };
  if (shown.length > 16) return { fault: "The settings were changed too often while the flow ran." };
  return {
    bundle: { format: BUNDLE_FORMAT, version, type: flow.type as FlowType, settings: shown, steps: told },
  };
}

const isJudged = ({ verdict }: Pick<RecordedStep, "verdict">) =>
  verdict !== "refused" && verdict !== "failed";

const faultOf = ({ decidedBy }: RecordedStep, position: number) =>
  decidedBy === null
    ? `Step ${position} was recorded by a former release, without what decided it: the flow cannot be replayed.`
    : `What decided step ${position} was recorded by a release that this one does not know.`;

/**
 * Finds the first step before which others are missing, by its position; null if there is none. A state whose payload is
 * renewed is saved without a step.
 */
function lostBefore(steps: readonly BundleStep[]): number | null {
  let state: string | null = null;
  let version = 0;
  for (const [index, step] of steps.entries()) {
    const { decided_by: decided } = step;
    if (!decided) continue;
    if (decided.begins === undefined) {
      if (state === null || step.from !== state) return index + 1;
      const isRenewed = isStateName(state) && states[state].renews !== "never";
      if (decided.version > version && !isRenewed) return index + 1;
    } else if (state !== null) return index + 1;
    if (step.state === null) continue;
    state = step.state;
    version = step.action === null ? decided.version : decided.version + 1;
  }
  return state === null ? 1 : null;
}

/** Reads a bundle from JSON. */
export function parseBundle(text: string): BundleResult {
  if (text.length > MAX_BUNDLE_CHARACTERS)
    return { fault: `A bundle has at most ${MAX_BUNDLE_CHARACTERS} characters.` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: "The bundle is not JSON." };
  }
  return readBundle(value);
}

/** Reads a bundle. */
export function readBundle(value: unknown): BundleResult {
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format !== "number") return { fault: "This is no bundle of a flow: it has no format." };
  if (format !== BUNDLE_FORMAT)
    return { fault: `The bundle has the format ${format}. This version reads the format ${BUNDLE_FORMAT}.` };
  if (isNestedDeeperThan(value, MAX_LEVELS))
    return { fault: "The bundle is damaged: it is nested too deeply." };
  const parsed = bundleSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { fault: `The bundle is damaged at ${issue?.path.join(".") || "its root"}: ${issue?.message}.` };
  }
  const { settings, steps } = parsed.data;
  const missing = steps.findIndex((step) => step.settings >= settings.length);
  if (missing >= 0) return { fault: `The bundle is damaged at steps.${missing}.settings.` };
  const lost = lostBefore(steps);
  return lost === null ? { bundle: parsed.data } : { fault: `The bundle has no step before step ${lost}.` };
}

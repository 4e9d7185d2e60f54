import { type Decisive, leavesIn, reasonName, reasonOf } from "../conditions/condition.ts";
import type { Action } from "./define.ts";
import { plannedSteps } from "./plan.ts";
import { states } from "./states/index.ts";

/** Every leaf of the conditions of actions and of plans, with both verdicts. */
export function everyDecisive(): Decisive[] {
  const conditions = [
    ...Object.values(states).flatMap(({ actions }) => Object.values<Action>(actions).map(({ when }) => when)),
    ...Object.values(plannedSteps).flatMap((steps) => steps.map(({ when }) => when)),
  ];
  const leaves = [...new Set(conditions.flatMap((condition) => leavesIn<never>(condition)))];
  return leaves.flatMap((leaf) => [true, false].map((holds) => ({ leaf, holds })));
}

const sentences = new Map(
  everyDecisive().map((decisive) => [reasonName(decisive), reasonOf(decisive).sentence]),
);

/** The sentence of a recorded reason; its name if another version has recorded it, and this one does not know it. */
export function sentenceOf(name: string): string {
  return sentences.get(name) ?? name;
}

import type { Cost } from "./define.ts";

/** Points that every step costs: it claims and saves its flow. */
export const STEP_POINTS = 1;

/** Points that an action costs beyond that. */
export const pointsOf: Record<Cost, number> = { write: 2, mail: 5, hash: 10 };

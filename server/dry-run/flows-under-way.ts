import { and, count, eq, gt, isNull, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { changedSettingsOf, verdictBySettings } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import type { Action } from "../flow/define.ts";
import { type FlowType, flowTypes, type StateName, stateNames } from "../flow/names.ts";
import { states } from "../flow/states/index.ts";

/** Flows under way of one type and state, whose next step a change of settings rejects or narrows. */
export interface ChangedFlows {
  type: FlowType;
  state: StateName;
  count: number;
  /** Nothing but `back` is left to do. */
  ends: boolean;
  /** Actions that are no longer offered, with what has decided that, a sentence each. */
  withdrawn: { action: string; reasons: string[] }[];
}

/**
 * Finds the flows under way that a change of settings affects: which actions of their states it withdraws, as far as the
 * configuration alone decides it. A flow that is under way goes on under the new configuration at its next step.
 */
export async function findChangedFlows(
  db: Pick<ReadOnly, "select">,
  tenantId: string,
  configs: { former: Config | null; changed: Config },
): Promise<ChangedFlows[]> {
  const { former, changed } = configs;
  // Of a tenant with invalid settings no flow goes on.
  if (former === null) return [];
  const { flows } = schema;
  const rows = await db
    .select({ type: flows.type, state: flows.state, count: count() })
    .from(flows)
    .where(and(eq(flows.tenantId, tenantId), isNull(flows.finishedAt), gt(flows.expiresAt, sql`now()`)))
    .groupBy(flows.type, flows.state)
    .orderBy(flows.type, flows.state);
  return rows.flatMap((row) => {
    const type = flowTypes.find((name) => name === row.type);
    const state = stateNames.find((name) => name === row.state);
    // A newer version on the same database may have others.
    if (!type || !state) return [];
    const withdrawn = withdrawnActions(type, state, former, changed);
    if (withdrawn.length === 0) return [];
    return { type, state, count: row.count, withdrawn, ends: !hasWayOn(type, state, changed) };
  });
}

/** Finds the actions that the former configuration may offer in a state, and the changed one never. */
function withdrawnActions(
  type: FlowType,
  state: StateName,
  former: Config,
  changed: Config,
): { action: string; reasons: string[] }[] {
  const [before, now] = [{ config: former }, { config: changed }];
  return actionsOf(type, state)
    .filter(
      ([, { when }]) => verdictBySettings(when, before) !== false && verdictBySettings(when, now) === false,
    )
    .map(([action, { when }]) => ({
      action,
      reasons: changedSettingsOf(when, before, now).map(({ sentence }) => sentence),
    }));
}

/** Whether a state may offer more than the way back. */
function hasWayOn(type: FlowType, state: StateName, config: Config): boolean {
  return actionsOf(type, state).some(
    ([name, { when }]) => name !== "back" && verdictBySettings(when, { config }) !== false,
  );
}

const actionsOf = (type: FlowType, state: StateName) =>
  Object.entries<Action>(states[state].actions).filter(([, { flows }]) => flows.includes(type));

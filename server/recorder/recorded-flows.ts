import { and, asc, count, desc, eq, getTableColumns, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { FlowType } from "../flow/names.ts";
import type { Outcome } from "./record-steps.ts";
import { settingsDigest } from "./stored-skeletons.ts";

/** Reading what is recorded of the flows of one tenant. */

const { recordedFlows: flows, recordedSteps: steps, recordedSettings: settings } = schema;

/** Filters of a list of flows; an absent one matches every flow. */
export interface FlowFilter {
  supportNumber?: string | undefined;
  userId?: string | undefined;
  /** The state that was answered last. */
  state?: string | undefined;
  outcome?: Outcome | undefined;
  type?: FlowType | undefined;
  /** A request that was a step of the flow. */
  requestId?: string | undefined;
  /** When the flow was started: from, and before. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/** `userExists`: whether there is an account `userId`, which a registration makes at its end and which may be deleted. */
export type RecordedFlow = typeof flows.$inferSelect & { userExists: boolean };
export type RecordedStep = typeof steps.$inferSelect;

/** The columns are named with their tables: the query builder writes those of a single table without it. */
const columnsIn = (tenantId: string) => ({
  ...getTableColumns(flows),
  userExists: sql<boolean>`exists (
    select 1 from users u where u.tenant_id = ${tenantId} and u.id = recorded_flows.user_id)`,
});

/** Matches that are counted, and through which the pages of a list lead. */
const MAX_COUNTED = 10_000;

/** Returns a page of flows, those that were started last first, and their number, at most 10 000. */
export async function listRecordedFlows(
  db: ReadOnly,
  { id: tenantId }: { id: string },
  filter: FlowFilter,
  { number, size }: { number: number; size: number },
): Promise<{ rows: RecordedFlow[]; total: number }> {
  const where = conditions(db, tenantId, filter);
  const matches = db.select({ id: flows.id }).from(flows).where(where).limit(MAX_COUNTED).as("matches");
  const [counted] = await db.select({ total: count() }).from(matches);
  const total = counted?.total ?? 0;
  const offset = (number - 1) * size;
  if (offset >= total) return { rows: [], total };
  const rows = await db
    .select(columnsIn(tenantId))
    .from(flows)
    .where(where)
    .orderBy(desc(flows.startedAt), desc(flows.id))
    .offset(offset)
    .limit(Math.min(size, total - offset));
  return { rows, total };
}

function conditions(db: ReadOnly, tenantId: string, filter: FlowFilter): SQL | undefined {
  const { supportNumber, userId, state, outcome, type, requestId, since, until } = filter;
  const ofRequest = (id: string) =>
    db
      .select({ flowId: steps.flowId })
      .from(steps)
      .where(and(eq(steps.tenantId, tenantId), eq(steps.requestId, id)));
  return and(
    eq(flows.tenantId, tenantId),
    supportNumber === undefined ? undefined : eq(flows.supportNumber, supportNumber),
    userId === undefined ? undefined : eq(flows.userId, userId),
    state === undefined ? undefined : eq(flows.state, state),
    outcome === undefined ? undefined : eq(flows.outcome, outcome),
    type === undefined ? undefined : eq(flows.type, type),
    requestId === undefined ? undefined : inArray(flows.id, ofRequest(requestId)),
    since && gte(flows.startedAt, since),
    until && lt(flows.startedAt, until),
  );
}

/** Steps that one answer shows. A process records fewer of a flow. */
const MAX_STEPS = 1_000;

/** Returns a recorded flow and its first thousand steps in the order of time; null if the tenant has no such flow. */
export async function readRecordedFlow(
  db: ReadOnly,
  { id: tenantId }: { id: string },
  flowId: string,
): Promise<{ flow: RecordedFlow; steps: RecordedStep[] } | null> {
  const [flow] = await db
    .select(columnsIn(tenantId))
    .from(flows)
    .where(and(eq(flows.tenantId, tenantId), eq(flows.id, flowId)));
  if (!flow) return null;
  const rows = await db
    .select()
    .from(steps)
    .where(and(eq(steps.tenantId, tenantId), eq(steps.flowId, flowId)))
    .orderBy(asc(steps.id))
    .limit(MAX_STEPS);
  return { flow, steps: rows };
}

/** What is recorded of a flow, with the settings that its steps were judged by. */
export interface RecordedWithSettings {
  flow: RecordedFlow;
  steps: RecordedStep[];
  /** By their digests, in hex. */
  settings: Map<string, Buffer>;
}

/** Returns a recorded flow with its settings; null if the tenant has no such flow. */
export async function readRecordedWithSettings(
  db: ReadOnly,
  tenant: { id: string },
  flowId: string,
): Promise<RecordedWithSettings | null> {
  const found = await readRecordedFlow(db, tenant, flowId);
  if (!found) return null;
  const digests = found.steps.flatMap(({ decidedBy }) => settingsDigest(decidedBy) ?? []);
  const distinct = [...new Map(digests.map((digest) => [digest.toString("hex"), digest])).values()];
  if (distinct.length === 0) return { ...found, settings: new Map() };
  const rows = await db
    .select({ digest: settings.digest, stored: settings.settings })
    .from(settings)
    .where(and(eq(settings.tenantId, tenant.id), inArray(settings.digest, distinct)));
  return { ...found, settings: new Map(rows.map(({ digest, stored }) => [digest.toString("hex"), stored])) };
}

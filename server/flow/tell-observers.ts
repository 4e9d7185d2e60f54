import { type Span, SpanStatusCode } from "@opentelemetry/api";
import { maskAddress } from "../audit/mask.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { readUserAgent } from "../lib/user-agent.ts";
import { timeOfUuid } from "../lib/uuid.ts";
import type { Logs } from "../observability/logger.ts";
import { defined, recordedTrace, untraced } from "../observability/spans.ts";
import type { Waits } from "../observability/waits.ts";
import type { Answer } from "./answer.ts";
import type { FlowRecord } from "./data.ts";
import type { FlowType, StateName } from "./names.ts";
import type { ObservedInput, ObservedStep, StepObservers, Verdict } from "./observed-step.ts";
import type { StepTrace } from "./performing.ts";
import { isActionName } from "./states/index.ts";
import type { FlowState } from "./wire.ts";
import { withoutValues } from "./without-values.ts";

/** A step in progress, for its observers. */
export interface StepInProgress {
  tenant: Tenant;
  client: Client;
  flowId: string;
  type: FlowType;
  action: string | null;
  isStart: boolean;
  /** By `performance.now`. */
  startedAt: number;
  /** Complete when the step is answered. */
  waits: Waits;
  /** Null where it is not traced. */
  span: Span | null;
  /** The flow as the step has found it; null until it is read. */
  found: { record: Pick<FlowRecord, "state" | "data">; now: Date } | null;
}

/** What became of a step. */
export interface Observed {
  /** Null: nothing was read of a flow. Then it is not told. */
  verdict: Verdict | null;
  /** Null if the step has failed. */
  answer: Pick<Answer, "state" | "flowId" | "stored"> | null;
  inputs?: readonly ObservedInput[] | undefined;
  /** What was judged of the action; absent if nothing was. */
  judged?: Pick<ObservedStep, "method" | "reason" | "signIn"> | undefined;
  /** What the step was decided by; absent if nothing was judged. */
  trace?: StepTrace | undefined;
}

/** Tells observers of a step. An observer that fails does not change the answer. */
export function tellObservers(
  { stepObservers, log, platform }: StepObservers & Logs & OnPlatform,
  step: StepInProgress,
  { verdict, ...became }: Observed,
): void {
  if (verdict === null || (stepObservers.length === 0 && !step.span)) return;
  // A flow that was not read, or whose first action is not offered and which is not stored, has no steps.
  const isUnread = verdict === "failed" && step.found === null;
  const isUnstored = step.isStart && verdict !== "started" && (became.answer?.flowId ?? null) === null;
  try {
    const observed = observedStep(step, verdict, became, Date.now() + platform.clockShift());
    if (step.span) describe(step.span, observed);
    if (isUnread || isUnstored) return;
    // What they do later is no part of the request.
    untraced(() => {
      for (const observe of stepObservers) observe(observed, step.tenant);
    });
  } catch (error) {
    log.error({ err: error }, "observing a step failed");
  }
}

/** Has the span of a step tell what became of it. */
function describe(span: Span, { flowId, type, from, action, verdict, to, error }: ObservedStep): void {
  span.updateName(`step ${from ?? type}`);
  span.setAttributes(
    defined({
      "stile.flow.id": flowId,
      "stile.flow.type": type,
      "stile.state": from,
      "stile.action": action,
      "stile.verdict": verdict,
      "stile.next_state": to,
      "stile.error": error,
    }),
  );
  if (verdict === "failed") span.setStatus({ code: SpanStatusCode.ERROR });
}

function observedStep(
  { tenant, client, found, startedAt, isStart, ...step }: StepInProgress,
  verdict: Verdict,
  { answer, inputs = [], judged, trace }: Omit<Observed, "verdict">,
  now: number,
): ObservedStep {
  const { state, flowId } = answer ?? { state: null, flowId: null };
  const errors = state ? errorCodes(state) : [];
  const data = answer?.stored?.data ?? found?.record.data;
  const { system = null, browser = null } = readUserAgent(client.userAgent);
  const at = found?.now.getTime() ?? data?.enteredAt ?? now;
  const flowStartedAt = timeOfUuid(step.flowId);
  return {
    tenantId: tenant.id,
    flowId: step.flowId,
    type: step.type,
    from: found?.record.state ?? null,
    action: step.action !== null && isActionName(step.action) ? step.action : null,
    verdict,
    to: flowId === null ? "error" : (state?.name as StateName),
    error: errors[0] ?? null,
    errors,
    milliseconds: performance.now() - startedAt,
    inStateMs: isStart ? null : timeInState(found),
    at,
    inFlowMs: flowStartedAt === null ? null : Math.max(0, at - flowStartedAt),
    method: judged?.method ?? null,
    reason: judged?.reason ?? null,
    signIn: judged?.signIn ?? null,
    waits: step.waits,
    client: {
      platform: system,
      browser,
      embedding: client.embedding,
      capabilities: data?.capabilities ?? null,
    },
    source: maskAddress(client.source),
    requestId: client.requestId,
    traceId: recordedTrace(step.span),
    inputs,
    userId: data?.userId ?? null,
    notOffered: answer?.stored?.notOffered ?? null,
    isStart,
    decidedBy: () => {
      const of = { flowId: step.flowId, isStart, config: tenant.config };
      return trace ? withoutValues(trace, of, state && flowId !== null ? state.actions : null) : null;
    },
    isEnd: flowId !== null && Object.keys(state?.actions ?? {}).length === 0,
  };
}

function timeInState(found: StepInProgress["found"]): number | null {
  const enteredAt = found?.record.data.enteredAt;
  return found && enteredAt !== undefined ? Math.max(0, found.now.getTime() - enteredAt) : null;
}

/** Error codes of a state: those of the inputs where there are any, else the flow's. */
export function errorCodes(state: Pick<FlowState, "error" | "actions">): string[] {
  if (!state.error) return [];
  const ofInputs = Object.values(state.actions)
    .filter(({ alias_of }) => alias_of === undefined)
    .flatMap(({ inputs }) => Object.values(inputs).flatMap(({ error }) => (error ? [error.code] : [])));
  return ofInputs.length > 0 ? ofInputs : [state.error.code];
}

import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Answer } from "./answer.ts";
import type { View } from "./define.ts";
import { parseInput } from "./inputs.ts";
import { findAction, type Judged, judge } from "./judge.ts";
import { newTrace, type StepTrace, tracing } from "./performing.ts";
import type { RememberedFlow } from "./remembered-flows.ts";
import { states } from "./states/index.ts";
import { admit, chargeOf } from "./step-limits.ts";
import type { FlowKey, StepFlow, UnclaimedFlow } from "./store.ts";
import { requestContextOf } from "./stored-flow.ts";
import { viewOf } from "./view.ts";
import { write } from "./write.ts";

/** A step of a flow that this process remembers. */
interface RememberedStep {
  key: FlowKey;
  tokenHash: Buffer;
  action: string;
  input: Record<string, unknown>;
  known: RememberedFlow;
  /** The time limit of judging. */
  signal: AbortSignal;
}

/**
 * Performs a step that does nothing but choose where the login goes on, such as the choice of a method, in one statement:
 * it is judged by the flow as this process has saved it, and saved if the flow still has that token and no step has claimed
 * it. The facts of the account may be older than the step, and are read again before a method is verified.
 *
 * @returns null if it is no such step, or was not saved; nothing was changed
 * @throws as `step`
 */
export async function stepAtOnce(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  { key, tokenHash, action, input, known, signal }: RememberedStep,
): Promise<{ answer: Answer; inputs: Judged["inputs"]; trace: StepTrace } | null> {
  const { record, facts, clockAhead, resume } = known;
  if (!resume || !onlyChooses(viewOf(record, facts, tenant.config), action, input)) return null;
  const shift = runtime.platform.clockShift();
  const flow: StepFlow = {
    record,
    // The payload of the row is not remembered.
    hasPresentFormat: false,
    user: null,
    now: timeOf(runtime, known),
    clockAhead: clockAhead + shift,
    hasStoredWebhooks: false,
    resume,
  };
  const request: RequestContext = requestContextOf(runtime, tenant, client, flow, undefined, signal);
  const trace = newTrace(flow, { facts });
  const judged = await judge(request, flow, action, input, { facts, performing: tracing(trace) });
  if (!judged || judged.error) return null;
  const { version } = record;
  const charge = chargeOf(tenant, client, action);
  const claim: UnclaimedFlow = { id: null, tokenHash, version, clockShift: shift, charge };
  const answer = await admit(runtime, () =>
    write(request, key, flow, { ...judged, facts: { ...facts, ...judged.facts } }, { claim, owner: null }),
  );
  return answer && { answer, inputs: judged.inputs, trace };
}

/** The time by the database's clock, as a remembered flow tells it. */
export function timeOf({ platform }: Pick<Runtime, "platform">, { clockAhead }: RememberedFlow): Date {
  return new Date(Date.now() + platform.clockShift() + clockAhead);
}

/** Whether an action is a choice of a login without a verified factor, and leads to a state that prepares nothing. */
function onlyChooses(view: View, name: string, input: Record<string, unknown>): boolean {
  if (view.type !== "login" || view.data.factors.length > 0) return false;
  const action = findAction(states[view.state], name)?.action;
  if (!action?.chooses || !parseInput(action.input(view), input).ok) return false;
  return states[action.chooses(view).to].enter === undefined;
}

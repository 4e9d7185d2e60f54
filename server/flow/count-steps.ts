import type { Counters } from "../funnel/counters.ts";
import { NONE, OTHER } from "../funnel/measures.ts";
import type { MethodName } from "../methods/index.ts";
import { findAction } from "./judge.ts";
import type { StateName } from "./names.ts";
import type { ObservedStep, StepObserver } from "./observed-step.ts";
import { states } from "./states/index.ts";

/** The states that ask for one method. Their counts are of it, as are those of an action that tries one in any state. */
const methodsOfStates: { readonly [Name in StateName]?: MethodName } = {
  login_passkey: "passkey",
  login_password: "password",
  passcode_confirmation: "passcode",
  phone_confirmation: "sms",
  thirdparty: "third_party",
  login_otp: "totp",
  login_security_key: "security_key",
  login_authenticator: "authenticator",
  login_sms: "sms",
};

/** The limit that steps are counted under which exceed a budget. */
const STEP_LIMIT = "steps";

/** Counts steps: which states are entered, how they are left, what fails, and who signs in. */
export function countSteps(counters: Pick<Counters, "count">): StepObserver {
  return (step) => {
    const { tenantId, type, client, from, to, at, verdict } = step;
    const own = { flowType: type, client };
    const enter = (state: StateName, method: string | null) =>
      counters.count(tenantId, { ...own, measure: "entered", state, at, method });

    const first = from ?? to;
    if (step.isStart && first !== "error") enter(first, methodsOfStates[first] ?? null);
    if (verdict !== "started" && verdict !== "performed") countFailure(counters, step);
    if (from === null || to === "error" || to === from) return;
    counters.count(tenantId, {
      ...own,
      measure: "left",
      state: from,
      name: nameOf(from, step.action),
      target: to,
      at: at - (step.inStateMs ?? 0),
      method: step.method ?? methodsOfStates[from] ?? null,
      durationMs: step.inStateMs,
    });
    const { signIn } = step;
    const [method = null, ...others] = signIn?.methods ?? [];
    enter(to, method ?? methodsOfStates[to] ?? null);
    if (signIn === null || to !== "success") return;
    counters.count(tenantId, {
      ...own,
      measure: signIn.isNewAccount ? "signed_up" : "signed_in",
      state: to,
      name: others.at(-1) ?? NONE,
      at,
      method,
      durationMs: step.inFlowMs === null ? null : step.inFlowMs + step.milliseconds,
      traceId: step.traceId,
    });
  };
}

function countFailure(
  counters: Pick<Counters, "count">,
  { tenantId, type, client, from, verdict, error, reason, method, at }: ObservedStep,
): void {
  const name = error ?? (verdict === "failed" ? "technical_error" : OTHER);
  const ofState = from === null ? null : (methodsOfStates[from] ?? null);
  counters.count(tenantId, {
    measure: "failed",
    flowType: type,
    state: from ?? NONE,
    name,
    target: reason ?? name,
    at,
    method: method ?? ofState,
    client,
  });
  if (verdict === "refused" && name === "rate_limit_exceeded")
    counters.count(tenantId, { measure: "limited", name: STEP_LIMIT, at });
}

/** The name of an action, for one of its aliases too: a client may send either. */
function nameOf(state: StateName, action: string | null): string {
  return (action !== null && findAction(states[state], action)?.name) || OTHER;
}

import { audit } from "../audit/audit.ts";
import { firstIdentifier } from "../identity/identifiers.ts";
import { hasSecondFactor, isMultiFactor } from "../methods/second-factors.ts";
import { renewProviderSession } from "../sessions/provider-sessions.ts";
import { recordFactors, replaceSession } from "../sessions/sessions.ts";
import { linkedProviders } from "./actions/continue-with-known-provider.ts";
import { amrOf } from "./amr.ts";
import type { FlowData } from "./data.ts";
import type { Context, Entered } from "./define.ts";
import { withEnrolledFactor } from "./enrolled-factor.ts";
import { codeOfState, noCodes, recipientsOf } from "./expected-codes.ts";
import { stateAfterIdentifier } from "./login-methods.ts";
import type { REAUTHENTICATE } from "./names.ts";
import { go, type Outcome, reject } from "./outcome.ts";

/**
 * Sends a signed-in user through the login states to reauthenticate, and back to the profile, where the engine performs
 * the action again. The session identifies the account, so only methods that it has are offered.
 */
export function stepUp(context: Context): Outcome<typeof REAUTHENTICATE, "flow_discontinuity_error"> {
  const { data, facts, config } = context;
  const identifier = firstIdentifier(facts) ?? { kind: "username" as const, value: "" };
  const actualMethods = { ...config, privacy: { ...config.privacy, only_show_actual_login_methods: true } };
  const recipients = recipientsOf(facts);
  const target =
    linkedProviders(context).length > 0
      ? "login_method_chooser"
      : stateAfterIdentifier(actualMethods, { ...data, ...recipients }, facts);
  if (!target) return reject("flow_discontinuity_error");
  const reauthentication = {
    identifier,
    ...recipients,
    factors: [],
    providerSession: undefined,
    steppingUp: true,
  };
  return go(target, {
    data: { ...reauthentication, ...codeOfState(target, { ...data, ...reauthentication } as FlowData) },
    proceedsAfterProof: true,
  });
}

/**
 * Adds a second factor that was enrolled in a profile flow to the session's factors, so that the next change does not
 * ask for it. The session's authentication time does not change.
 */
export function recordEnrolment(context: Context): Pick<Entered, "writes"> {
  const { request } = context;
  const { session } = request;
  if (!session) return {};
  const factors = withEnrolledFactor(context, session.factors);
  return factors === session.factors ? {} : { writes: [recordFactors(request, { id: session.id, factors })] };
}

/** Replaces the session by a new one once reauthentication is complete. */
export async function completeStepUp({
  request,
  data,
  facts,
  config,
}: Context): Promise<Pick<Entered, "writes" | "data" | "session" | "replacement">> {
  const { steppingUp, factors, providerSession } = data;
  const complete = factors.length > 0 && (!hasSecondFactor(facts, config) || isMultiFactor(factors));
  if (!steppingUp || !complete || !request.session) return {};
  const { email, emailVerified, username } = facts;
  const authentication = { factors, amr: amrOf(factors), email, emailVerified, username };
  const { issued, session, write } = await replaceSession(request, request.session, authentication);
  const renewal = providerSession ? { handle: providerSession, sessionId: session.id } : null;
  return {
    session: issued,
    replacement: session,
    writes: [
      write,
      ...(renewal ? [renewProviderSession(request, renewal)] : []),
      audit(
        request,
        "reauthentication_succeeded",
        { methods: factors.map(({ method }) => method) },
        request.session.userId,
      ),
    ],
    data: {
      steppingUp: undefined,
      factors: [],
      providerSession: undefined,
      identifier: undefined,
      ...noCodes,
    },
  };
}

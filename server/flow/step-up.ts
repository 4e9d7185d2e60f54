import { recordFactors, refreshSession } from "../sessions/sessions.ts";
import { methodReference } from "./amr.ts";
import type { Context, Entered } from "./define.ts";
import { afterIdentifier, loginPasscode } from "./login-methods.ts";
import type { PROOF } from "./names.ts";
import { go, type Outcome, refuse } from "./outcome.ts";
import { hasSecondFactor, isProvedTwice } from "./second-factor.ts";

/**
 * Leads somebody who is signed in through the login states once more, and back to their account. They are who the
 * session says, so only methods that the account has are shown.
 */
export function stepUp({ data, facts, config }: Context): Outcome<typeof PROOF, "flow_discontinuity_error"> {
  const identifier = facts.email
    ? { kind: "email" as const, value: facts.email }
    : { kind: "username" as const, value: facts.username ?? "" };
  const actual = { ...config, privacy: { ...config.privacy, only_show_actual_login_methods: true } };
  const email = facts.email ?? undefined;
  const target = afterIdentifier(actual, { ...data, email }, facts);
  if (!target) return refuse("flow_discontinuity_error");
  const about = { ...data, email, identifier, factors: [], steppingUp: true };
  const passcode = target === "passcode_confirmation" ? loginPasscode(about, "login") : undefined;
  return go(target, { data: { identifier, email, factors: [], steppingUp: true, passcode } });
}

/**
 * What follows from a second factor that somebody who is signed in has set up: they have it at hand, so the session
 * need not ask for it at the next change. Its time stays that of the proof before.
 */
export function noteEnrolment({ request, data, facts }: Context): Pick<Entered, "writes"> {
  const { session, now } = request;
  if (!data.enrolled || !session || isProvedTwice(session.factors)) return {};
  const method = facts.hasTotp ? ("totp" as const) : ("security_key" as const);
  const factors = [...session.factors, { method, at: now.toISOString() }];
  return { writes: [recordFactors(request, { id: session.id, factors })] };
}

/** What follows when the account is shown again and its owner has proved who they are: the session says so. */
export function finishStepUp({ request, data, facts, config }: Context): Pick<Entered, "writes" | "data"> {
  const { steppingUp, factors } = data;
  const complete = factors.length > 0 && (!hasSecondFactor(facts, config) || isProvedTwice(factors));
  if (!steppingUp || !complete || !request.session) return {};
  const { id } = request.session;
  const amr = factors.map(methodReference).filter((reference) => reference !== null);
  return {
    writes: [refreshSession(request, { id, factors, amr })],
    data: { steppingUp: undefined, factors: [], identifier: undefined, passcode: undefined },
  };
}

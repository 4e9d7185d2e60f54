import { always, any, type Condition, holds, reasonsOf } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { assumedCapabilities } from "../flow/capabilities.ts";
import { type FlowData, flowData } from "../flow/data.ts";
import { noFacts } from "../flow/facts.ts";
import { enrolmentStep, secondFactorSteps } from "../flow/second-factor.ts";
import type { Situation } from "../flow/situation.ts";
import { type FirstFactorMethod, firstFactors } from "../methods/index.ts";
import type { MethodFacts } from "../methods/method.ts";
import { canSignIn, canSignInWith, hasWayIn } from "../methods/ways-in.ts";

/** What a change of settings does to a user. */
export const effects = [
  /** Could sign in, and no longer can. */
  "locked_out",
  /** Can sign in neither before nor after. */
  "locked_out_before",
  /** Could not sign in, and can. */
  "regains_access",
  /** Is asked for a second factor at the next sign-in, and was not before. */
  "second_factor_asked",
  "second_factor_not_asked",
  /** Is asked to set up a second factor at the next sign-in, and was not before. */
  "set_up_asked",
  "set_up_not_asked",
] as const;

export type Effect = (typeof effects)[number];

/** The facts of users under two configurations: an identity is one while its provider is enabled. */
export interface Both<Of> {
  former: Of;
  changed: Of;
}

/** A change of the settings of a tenant. */
export interface ConfigChange {
  tenantId: string;
  /** Null if the settings in force are invalid: the tenant is not served. */
  former: Config | null;
  changed: Config;
}

/**
 * Judges a change for users with equal facts, by the conditions that decide sign-ins.
 *
 * @param configs `former` is null if the settings in force are invalid: the tenant is not served
 * @returns its effects, each with what has decided it under the changed configuration, a sentence each
 */
export function effectsOf(
  facts: Both<MethodFacts>,
  { former, changed }: { former: Config | null; changed: Config },
): { effect: Effect; reasons: string[] }[] {
  const could = former !== null && canSignIn(facts.former, former);
  const subject = { facts: facts.changed, config: changed };
  const sentences = () => reasonsOf(hasWayIn, subject).map(({ sentence }) => sentence);
  if (!canSignIn(facts.changed, changed))
    return [{ effect: could ? "locked_out" : "locked_out_before", reasons: sentences() }];
  if (former === null || !could) return [{ effect: "regains_access", reasons: sentences() }];
  const before = signIns(facts.former, former);
  const after = signIns(facts.changed, changed);
  return asked.flatMap(({ condition, more, less }) =>
    ([more, less] as const).flatMap((effect) => {
      const differing = after.filter(({ method, situation }) => {
        const same = before.find((one) => one.method === method);
        if (!same) return false;
        const [was, is] = [holds(condition, same.situation), holds(condition, situation)];
        return was !== is && is === (effect === more);
      });
      if (differing.length === 0) return [];
      const reasons = differing.flatMap(({ situation }) => reasonsOf(condition, situation));
      return { effect, reasons: [...new Set(reasons.map(({ sentence }) => sentence))] };
    }),
  );
}

/** What the plan of a login asks for after a first factor. */
const asked: readonly { condition: Condition<Situation>; more: Effect; less: Effect }[] = [
  {
    condition: any(...secondFactorSteps(always).map(({ when }) => when)),
    more: "second_factor_asked",
    less: "second_factor_not_asked",
  },
  { condition: enrolmentStep.when, more: "set_up_asked", less: "set_up_not_asked" },
];

/**
 * The sign-ins of users with equal facts by each method that they can sign in with, after the first factor.
 *
 * @param mailLeadsAway whether their addresses lead to SAML providers
 */
export function signIns(facts: MethodFacts, config: Config, mailLeadsAway = false) {
  return firstFactors
    .filter((method) => holds(canSignInWith(method), { facts, config, mailLeadsAway }))
    .map((method) => {
      const data = dataAfter(method, config);
      const situation: Situation = { type: "login", data, facts: { ...noFacts, ...facts }, config };
      return { method, situation };
    });
}

/**
 * The data of a login whose first factor is verified, with a browser that is not trusted. Authenticators verify their users
 * unless the configuration discourages it; that a provider does is known when it says so.
 */
function dataAfter({ name }: FirstFactorMethod, { passkey }: Config): FlowData {
  const userVerified = name === "passkey" && passkey.user_verification !== "discouraged";
  return flowData.parse({
    capabilities: assumedCapabilities,
    completedStates: ["preflight"],
    factors: [{ method: name, at: new Date(0).toISOString(), userVerified }],
  });
}

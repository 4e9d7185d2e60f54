import type { Factor } from "#db/schema/sessions";
import { holds } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { enrolmentStep } from "../flow/second-factor.ts";
import { enrolledMethods } from "../methods/index.ts";
import type { MethodFacts } from "../methods/method.ts";
import { acceptedFactors, canEnrol } from "../methods/second-factors.ts";
import { type ContextClass, meetsOne } from "../openid/authentication-context.ts";
import { signIns } from "./effects.ts";

/**
 * Whether an account can sign in so that one of the classes is met, which the console asks for: by a first factor alone, with a
 * second factor that it has, or with one that the sign-in has it set up.
 *
 * @param about `verifies`: whether a linked provider is trusted for the second factor; `mailLeadsAway`: whether the addresses of the
 *   account lead to SAML providers
 */
export function canEnterConsole(
  { facts, verifies, mailLeadsAway }: { facts: MethodFacts; verifies: boolean; mailLeadsAway: boolean },
  config: Config,
  classes: readonly ContextClass[],
): boolean {
  return signIns(facts, config, mailLeadsAway).some(({ method, situation }) => {
    const factors = situation.data.factors.map((factor) =>
      method.name === "third_party" && verifies ? { ...factor, userVerified: true } : factor,
    );
    const meetsWith = (...more: Pick<Factor, "method">[]) => meetsOne([...factors, ...more], classes);
    if (meetsWith() || acceptedFactors(facts, config).some((second) => meetsWith({ method: second.name })))
      return true;
    const data = { ...situation.data, factors, classes: [...classes] };
    return (
      holds(enrolmentStep.when, { ...situation, data }) &&
      enrolledMethods.some(
        (second) => canEnrol(second, facts, data.capabilities, config) && meetsWith({ method: second.name }),
      )
    );
  });
}

import { all } from "../../conditions/condition.ts";
import { type SecondFactorMethod, secondFactors } from "../../methods/index.ts";
import { canUseFactor, hasAsSecondFactor } from "../../methods/second-factors.ts";
import { type Action, choice, type NoInput } from "../define.ts";

/** A second factor that another one can be left for. */
type SwitchableMethod = Extract<SecondFactorMethod, { secondFactor: { switch: object } }>;

const switchable = secondFactors.filter(
  (method): method is SwitchableMethod => method.secondFactor.switch !== null,
);

/** The actions that switch to the second factors other than `Own`, by their names. */
type SwitchesFrom<Own extends SecondFactorMethod> = {
  [Method in Exclude<SwitchableMethod, Own> as Method["secondFactor"]["switch"]["action"]]: Action<NoInput>;
};

/**
 * Returns the actions of the state of one second factor that switch to the others. Each is offered to accounts that have the
 * other, as published clients do not know all of them.
 */
export function switchesFrom<Own extends SecondFactorMethod>(own: Own): SwitchesFrom<Own> {
  const others = switchable.filter((method) => method.name !== own.name);
  return Object.fromEntries(
    others.map((method) => [method.secondFactor.switch.action, switchTo(method)]),
  ) as SwitchesFrom<Own>;
}

function switchTo(method: SwitchableMethod): Action<NoInput> {
  const { state, switch: offered } = method.secondFactor;
  return choice({
    description: offered.description,
    when: all(hasAsSecondFactor(method), canUseFactor(method)),
    to: state,
  });
}

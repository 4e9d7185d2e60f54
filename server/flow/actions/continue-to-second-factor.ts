import { type SecondFactorMethod, secondFactors } from "../../methods/index.ts";
import { canUse, hasAccepted } from "../../methods/second-factors.ts";
import { type Action, action, type NoInput } from "../define.ts";
import { go } from "../outcome.ts";

/** The actions that switch to another second factor, by their names. */
type Switches = {
  [Method in SecondFactorMethod as Method["secondFactor"]["switch"]["action"]]: Action<NoInput>;
};

/**
 * Returns the actions of the state of one second factor that switch to the others. Each is offered to accounts that have the
 * other, as published clients do not know all of them.
 */
export function switchesFrom<Own extends SecondFactorMethod>(
  own: Own,
): Omit<Switches, Own["secondFactor"]["switch"]["action"]> {
  const others = secondFactors.filter((method) => method.name !== own.name);
  return Object.fromEntries(
    others.map((method) => [method.secondFactor.switch.action, switchTo(method)]),
  ) as Omit<Switches, Own["secondFactor"]["switch"]["action"]>;
}

function switchTo(method: SecondFactorMethod): Action<NoInput> {
  const { state, switch: offered } = method.secondFactor;
  return action({
    description: offered.description,
    when: ({ data, facts, config }) =>
      hasAccepted(method, facts, config) && canUse(method, data.capabilities, config),
    to: [state],
    run: () => go(state),
  });
}

import { all, any, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { type EnrolledMethod, enrolledMethods } from "../../methods/index.ts";
import { canEnrol, canSetUp, hasAcceptedFactor, isLastResort } from "../../methods/second-factors.ts";
import { back } from "../actions/back.ts";
import { skip } from "../actions/skip.ts";
import { type Action, action, type NoInput, state } from "../define.ts";
import { stepError } from "../errors.ts";
import { go } from "../outcome.ts";
import { isAskedForSecondFactor } from "../second-factor.ts";

/**
 * The user chooses a second factor to enrol. If another flow has enrolled one concurrently, that one is required first,
 * and no other can be enrolled here.
 */
export const mfaMethodChooser = state({
  name: "mfa_method_chooser",
  async enter({ data, facts, config }) {
    const isPossible = enrolledMethods.some((method) => canEnrol(method, facts, data.capabilities, config));
    return isPossible ? {} : { error: stepError("platform_authenticator_required") };
  },
  actions: () => ({
    ...enrolments(),
    skip: skip(any(all(configured("mfa.optional"), not(isAskedForSecondFactor)), hasAcceptedFactor)),
    back,
  }),
});

type Enrolments = {
  [Method in EnrolledMethod as Method["secondFactor"]["enrolment"]["action"]]: Action<NoInput>;
};

/** The actions that set up a second factor, by their names, the last resort last. */
function enrolments(): Enrolments {
  const offered = enrolledMethods.toSorted(
    (one, other) => Number(isLastResort(one)) - Number(isLastResort(other)),
  );
  return Object.fromEntries(
    offered.map((method) => [method.secondFactor.enrolment.action, enrol(method)]),
  ) as Enrolments;
}

function enrol(method: EnrolledMethod): Action<NoInput> {
  const { state: target, description } = method.secondFactor.enrolment;
  return action({
    description,
    when: all(canSetUp(method), not(hasAcceptedFactor)),
    to: [target],
    run: () => go(target),
  });
}

import { all, any, type Condition, not } from "../../conditions/condition.ts";
import { configured, fact, flowIs } from "../../conditions/leaves.ts";
import { type FirstFactorMethod, firstFactors } from "../../methods/index.ts";
import { hasMethod } from "../../methods/ways-in.ts";
import { back } from "../actions/back.ts";
import { continueWithKnownProvider } from "../actions/continue-with-known-provider.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { type Action, choice, type NoInput, state, type View } from "../define.ts";
import { loginCode } from "../expected-codes.ts";

/**
 * That a method is offered: every configured one, so that the choice does not reveal the account's methods, unless
 * the configuration shows actual methods or the owner reauthenticates.
 *
 * @param has whether the account has the method
 */
const offered = (has: Condition<View>) =>
  any(has, all(not(flowIs("profile")), not(configured("privacy.only_show_actual_login_methods"))));

/** A method that the choice offers by an action of its record. */
type ChosenMethod = Extract<FirstFactorMethod, { firstFactor: { choice: object } }>;

type Choices = {
  [Method in ChosenMethod as Method["firstFactor"]["choice"]["action"]]: Action<NoInput>;
};

const choices = Object.fromEntries(
  firstFactors
    .filter((method): method is ChosenMethod => method.firstFactor.choice !== null)
    .map((method) => [method.firstFactor.choice.action, choose(method)]),
) as Choices;

function choose(method: ChosenMethod): Action<NoInput> {
  const { firstFactor } = method;
  const { state, codeTo, enabled } = firstFactor;
  return choice({
    description: firstFactor.choice.description,
    costs: codeTo ? ["write", "mail"] : [],
    when: all(enabled, offered(hasMethod(method))),
    to: state,
    data: ({ data }) => (codeTo ? loginCode(codeTo, data) : {}),
  });
}

/** The user chooses how to sign in. */
export const loginMethodChooser = state({
  name: "login_method_chooser",
  needs: ["identifier"],
  actions: () => ({
    thirdparty_oauth: continueWithKnownProvider,
    ...choices,
    webauthn_generate_request_options: {
      ...generateRequestOptions,
      when: all(generateRequestOptions.when, offered(fact("hasPasskey"))),
    },
    back,
  }),
});

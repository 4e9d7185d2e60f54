import { type FirstFactorMethod, firstFactors } from "../../methods/index.ts";
import { back } from "../actions/back.ts";
import { continueWithKnownProvider } from "../actions/continue-with-known-provider.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { type Action, choice, type NoInput, state, type View } from "../define.ts";
import { loginCode } from "../expected-codes.ts";

/**
 * Whether a method is offered: every configured one, so that the choice does not reveal the account's methods, unless
 * the configuration shows actual methods or the owner reauthenticates.
 */
const offered = (has: boolean, { type, config }: View) =>
  has || (type !== "profile" && !config.privacy.only_show_actual_login_methods);

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

function choose({ has, firstFactor }: ChosenMethod): Action<NoInput> {
  const { state, codeTo, isEnabled } = firstFactor;
  return choice({
    description: firstFactor.choice.description,
    costs: codeTo ? ["write", "mail"] : [],
    when: (view) => isEnabled(view.config) && offered(has(view.facts), view),
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
      when: (view: View) => generateRequestOptions.when(view) && offered(view.facts.hasPasskey, view),
    },
    back,
  }),
});

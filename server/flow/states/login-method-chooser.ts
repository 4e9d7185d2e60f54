import { passcode } from "../../methods/passcode/index.ts";
import { password } from "../../methods/password/index.ts";
import { sms } from "../../methods/sms/index.ts";
import { back } from "../actions/back.ts";
import { continueWithKnownProvider } from "../actions/continue-with-known-provider.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { state, type View } from "../define.ts";
import { loginPasscode, loginSms } from "../login-methods.ts";
import { go } from "../outcome.ts";

/**
 * Whether a method is offered: every configured one, so that the choice does not reveal the account's methods, unless
 * the configuration shows actual methods or the owner reauthenticates.
 */
const offered = (has: boolean, { type, config }: View) =>
  has || (type !== "profile" && !config.privacy.only_show_actual_login_methods);

/** The user chooses how to sign in. */
export const loginMethodChooser = state({
  name: "login_method_chooser",
  needs: ["identifier"],
  actions: (action) => ({
    thirdparty_oauth: continueWithKnownProvider,
    continue_to_password_login: action({
      description: "Sign in with a password.",
      when: (view) => password.firstFactor.isEnabled(view.config) && offered(view.facts.hasPassword, view),
      to: ["login_password"],
      run: () => go("login_password"),
    }),
    continue_to_passcode_confirmation: action({
      description: "Sign in with a code sent by email.",
      costs: ["write", "mail"],
      when: (view) => passcode.firstFactor.isEnabled(view.config) && offered(view.facts.email !== null, view),
      to: ["passcode_confirmation"],
      run: ({ data }) => go("passcode_confirmation", { data: { passcode: loginPasscode(data, "login") } }),
    }),
    continue_to_phone_confirmation: action({
      description: "Sign in with a code sent by SMS.",
      costs: ["write", "mail"],
      when: (view) => sms.firstFactor.isEnabled(view.config) && offered(view.facts.phone !== null, view),
      to: ["phone_confirmation"],
      run: ({ data }) => go("phone_confirmation", { data: { sms: loginSms(data) } }),
    }),
    webauthn_generate_request_options: {
      ...generateRequestOptions,
      when: (view) => generateRequestOptions.when(view) && offered(view.facts.hasPasskey, view),
    },
    back,
  }),
});

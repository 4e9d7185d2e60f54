import { createRequestOptions } from "../../methods/passkey/passkeys.ts";
import { continueWithLoginIdentifier } from "../actions/continue-with-login-identifier.ts";
import { rememberMe } from "../actions/remember-me.ts";
import { thirdpartyOauth } from "../actions/thirdparty-oauth.ts";
import { generateRequestOptions } from "../actions/webauthn-generate-request-options.ts";
import { verifyAssertionResponse } from "../actions/webauthn-verify-assertion-response.ts";
import { state } from "../define.ts";

/** The user enters an identifier, or signs in with a passkey. */
export const loginInit = state({
  name: "login_init",
  renews: "always",
  // Published clients ignore it; our components offer no registration then.
  shows: ({ config }) => (config.account.allow_signup ? {} : { registration_closed: true }),
  async enter({ request, flowId, data, config }) {
    const { capabilities } = data;
    if (!config.passkey.enabled || !capabilities?.webauthn || !capabilities.conditionalMediation) return {};
    const challenge = await createRequestOptions(request, { flowId });
    return { payload: { request_options: challenge.options }, writes: [challenge.write] };
  },
  actions: () => ({
    continue_with_login_identifier: continueWithLoginIdentifier,
    webauthn_generate_request_options: generateRequestOptions,
    webauthn_verify_assertion_response: verifyAssertionResponse,
    thirdparty_oauth: thirdpartyOauth,
    remember_me: rememberMe,
  }),
});

import { createRequestOptions } from "../../methods/passkey/passkeys.ts";
import { credentialIds } from "../../methods/webauthn-credentials.ts";
import { back } from "../actions/back.ts";
import { continueToLoginMethodChooser } from "../actions/continue-to-login-method-chooser.ts";
import { requiredProof, verifyAssertionResponse } from "../actions/webauthn-verify-assertion-response.ts";
import { type Context, state } from "../define.ts";

/** The browser asks for a passkey or, after a first factor, for any WebAuthn credential of the account. */
export const loginPasskey = state({
  name: "login_passkey",
  // A published client prompts again as soon as it sees options.
  renews: "on_request",
  async enter(context) {
    const { request, flowId, data, db } = context;
    const proof = requiredProof(data);
    const { userId } = data;
    const subject =
      userId && (proof.secondFactor || mayListPasskeys(context))
        ? { userId, allowed: await credentialIds(db, request.tenant.id, userId) }
        : {};
    const challenge = await createRequestOptions(request, { flowId, ...proof, ...subject });
    return { payload: { request_options: challenge.options }, writes: [challenge.write] };
  },
  actions: () => ({
    webauthn_verify_assertion_response: verifyAssertionResponse,
    continue_to_login_method_chooser: continueToLoginMethodChooser,
    back,
  }),
});

/** Whether to list the account's passkeys: the list reveals that the account exists. */
function mayListPasskeys({ type, config }: Context): boolean {
  return type === "profile" || config.privacy.only_show_actual_login_methods;
}

import { openRequest } from "../../credentials/passkeys.ts";
import { credentialIds } from "../../credentials/webauthn-credentials.ts";
import { back } from "../actions/back.ts";
import { verifyAssertionResponse } from "../actions/verify-assertion-response.ts";
import { state } from "../define.ts";

/** The browser asks for a passkey. */
export const loginPasskey = state({
  name: "login_passkey",
  renews: true,
  async enter({ scope, flowId, data, config, db }) {
    // A list of the account's own passkeys tells that it exists, so only where that may be told.
    const about =
      data.userId && config.privacy.only_show_actual_login_methods
        ? { userId: data.userId, allowed: await credentialIds(db, scope.tenant.id, data.userId) }
        : {};
    const request = await openRequest(scope, { flowId, ...about });
    return { payload: { request_options: request.options }, writes: [request.write] };
  },
  actions: () => ({ webauthn_verify_assertion_response: verifyAssertionResponse, back }),
});

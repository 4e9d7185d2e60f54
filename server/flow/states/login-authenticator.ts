import { audit } from "../../audit/audit.ts";
import {
  consumeLoginRequest,
  ensureLoginRequest,
  loginRequestStatus,
} from "../../authenticator/login-request.ts";
import { back } from "../actions/back.ts";
import { continueToLoginOtp, continueToLoginSecurityKey } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { state } from "../define.ts";
import { stepError } from "../errors.ts";
import { NEXT } from "../names.ts";
import { next, reject, retryPayload } from "../outcome.ts";
import { hasUsableAuthenticator } from "../second-factor.ts";

/**
 * Second factor by a registered authenticator (UAF): the user confirms a request of this flow on a phone. The phone
 * answers over its own API; the client waits for that, then calls `authenticator_verify`.
 */
export const loginAuthenticator = state({
  name: "login_authenticator",
  needs: ["userId"],
  // A request lives for minutes, a flow for an hour.
  renews: true,
  async enter({ request, flowId, data, facts }) {
    const { userId } = data;
    const username = facts.email ?? facts.username ?? userId;
    const made = await ensureLoginRequest(request, { flowId, userId, username });
    if (!made.ok && made.reason === "rate_limited") {
      // The seconds are in the payload itself, because a rejection of the action replaces this error.
      return { payload: retryPayload(made.retryAfterSeconds), error: stepError("rate_limit_exceeded") };
    }
    // The device was deregistered concurrently; `authenticator_verify` then goes to the next state of the plan.
    if (!made.ok) return { error: stepError("authenticator_request_failed") };
    const { request_id, valid_until, ...secrets } = made.shown;
    // The QR code and the URL contain tokens, which are stored sealed.
    const writes = made.write ? [made.write] : [];
    return { payload: { request_id, valid_until }, secrets, writes, jobs: made.jobs };
  },
  actions: (action) => ({
    authenticator_verify: action({
      description: "Continue after the phone has confirmed. An expired request is replaced by a new one.",
      to: [NEXT],
      errors: [
        "authenticator_request_pending",
        "authenticator_request_failed",
        "authenticator_request_expired",
      ],
      async run({ request, flowId, data, facts, config }) {
        const { userId } = data;
        // The device was deregistered concurrently: its answer no longer counts.
        if (!hasUsableAuthenticator(facts, config)) return next();
        const about = { flowId, userId };
        const status = await loginRequestStatus(request, about);
        if (status === "pending") return reject("authenticator_request_pending");
        if (status === "expired") return reject("authenticator_request_expired", { renew: true });
        if (status === "failed") {
          const failure = audit(request, "login_failure", { method: "authenticator" }, userId);
          // Taken, so that it is not reported again if no new request can be made yet.
          const writes = [consumeLoginRequest(request.tenant, about, "FAILED"), failure];
          return reject("authenticator_request_failed", { renew: true, writes });
        }
        return next({
          data: { factors: [...data.factors, { method: "authenticator", at: request.now.toISOString() }] },
          writes: [consumeLoginRequest(request.tenant, about)],
        });
      },
    }),
    continue_to_login_otp: continueToLoginOtp,
    continue_to_login_security_key: continueToLoginSecurityKey,
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

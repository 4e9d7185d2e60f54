import {
  consumeLoginRequest,
  ensureLoginRequest,
  loginRequestStatus,
} from "../../authenticator/login-request.ts";
import { authenticator } from "../../methods/authenticator/index.ts";
import { hasAccepted } from "../../methods/second-factors.ts";
import { back } from "../actions/back.ts";
import { switchesFrom } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { state } from "../define.ts";
import { stepError } from "../errors.ts";
import { loginFailure } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { next, reject, retryPayload } from "../outcome.ts";

/**
 * Second factor by a registered authenticator (UAF): the user confirms a request of this flow on another device, which
 * answers over the authenticator API. The client waits for the answer, then calls `authenticator_verify`.
 */
export const loginAuthenticator = state({
  name: "login_authenticator",
  needs: ["userId"],
  // A request expires within minutes, a flow after an hour.
  renews: "always",
  async enter({ request, flowId, data, facts }) {
    const { userId } = data;
    const username = facts.email ?? facts.username ?? userId;
    const prepared = await ensureLoginRequest(request, { flowId, userId, username });
    if (!prepared.ok && prepared.reason === "rate_limited") {
      // The seconds are in the payload itself, because a rejection of the action replaces this error.
      return { payload: retryPayload(prepared.retryAfterSeconds), error: stepError("rate_limit_exceeded") };
    }
    // The device was deregistered concurrently; `authenticator_verify` then goes to the next state of the plan.
    if (!prepared.ok) return { error: stepError("authenticator_request_failed") };
    const { request_id, valid_until, ...secrets } = prepared.shown;
    // The QR code and the URL contain tokens, which are stored sealed.
    const writes = prepared.write ? [prepared.write] : [];
    return { payload: { request_id, valid_until }, secrets, writes, jobs: prepared.jobs };
  },
  actions: (action) => ({
    authenticator_verify: action({
      description:
        "Continue after the authenticator has confirmed. An expired request is replaced by a new one.",
      costs: ["write"],
      to: [NEXT],
      errors: [
        "authenticator_request_pending",
        "authenticator_request_failed",
        "authenticator_request_expired",
      ],
      async run(context) {
        const { request, flowId, data, facts, config } = context;
        const { userId } = data;
        // The device was deregistered concurrently: its answer no longer counts.
        if (!hasAccepted(authenticator, facts, config)) return next();
        const key = { flowId, userId };
        const status = await loginRequestStatus(request, key);
        if (status === "pending") return reject("authenticator_request_pending");
        if (status === "expired") return reject("authenticator_request_expired", { renew: true });
        if (status === "failed") {
          const failure = loginFailure(context, { method: "authenticator", reason: "not_confirmed" });
          // Consumed, so that it is not reported again while the rate limit prevents a new request.
          const writes = [consumeLoginRequest(request.tenant, key, "FAILED"), failure];
          return reject("authenticator_request_failed", { renew: true, writes });
        }
        return next({
          data: { factors: [...data.factors, { method: "authenticator", at: request.now.toISOString() }] },
          writes: [consumeLoginRequest(request.tenant, key)],
        });
      },
    }),
    ...switchesFrom(authenticator),
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

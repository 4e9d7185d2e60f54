import { audit } from "../../audit/audit.ts";
import {
  ensureLoginRequest,
  loginRequestStatus,
  takeLoginRequest,
} from "../../authenticator/login-request.ts";
import { back } from "../actions/back.ts";
import { continueToLoginOtp, continueToLoginSecurityKey } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { state } from "../define.ts";
import { problemOf } from "../errors.ts";
import { NEXT } from "../names.ts";
import { next, refuse, retryPayload } from "../outcome.ts";
import { answersRequests } from "../second-factor.ts";

/**
 * A first factor was shown; the person confirms on their phone what this flow has asked it. The phone answers at an
 * interface of its own, so the client waits for that, and then asks whether the flow may go on.
 */
export const loginAuthenticator = state({
  name: "login_authenticator",
  needs: ["userId"],
  // A request lives for minutes, the flow for an hour.
  renews: true,
  async enter({ request, flowId, data, facts }) {
    const { userId } = data;
    const username = facts.email ?? facts.username ?? userId;
    const made = await ensureLoginRequest(request, { flowId, userId, username });
    if (!made.ok && made.reason === "rate_limited") {
      // The seconds stand in the payload itself: a refusal that led here goes before this problem.
      return { payload: retryPayload(made.retryAfterSeconds), problem: problemOf("rate_limit_exceeded") };
    }
    // It was deregistered in this very moment; whoever asks to go on is owed something else.
    if (!made.ok) return { problem: problemOf("authenticator_request_failed") };
    const { request_id, valid_until, ...secrets } = made.shown;
    // The picture and the address hold tokens, which rest sealed.
    const writes = made.write ? [made.write] : [];
    return { payload: { request_id, valid_until }, secrets, writes, jobs: made.jobs };
  },
  actions: (action) => ({
    authenticator_verify: action({
      description: "Go on once the phone has confirmed. Where its request has run out, there is a new one.",
      to: [NEXT],
      errors: [
        "authenticator_request_pending",
        "authenticator_request_failed",
        "authenticator_request_expired",
      ],
      async run({ request, flowId, data, facts, config }) {
        const { userId } = data;
        // It may have been deregistered meanwhile; then no answer of it is owed, and none counts.
        if (!answersRequests(facts, config)) return next();
        const about = { flowId, userId };
        const status = await loginRequestStatus(request, about);
        if (status === "pending") return refuse("authenticator_request_pending");
        if (status === "expired") return refuse("authenticator_request_expired", { renew: true });
        if (status === "failed") {
          const failure = audit(request, "login_failure", { method: "authenticator" }, userId);
          // Where no new one can be made yet, it is not told of again.
          const writes = [takeLoginRequest(request.tenant, about, "FAILED"), failure];
          return refuse("authenticator_request_failed", { renew: true, writes });
        }
        return next({
          data: { factors: [...data.factors, { method: "authenticator", at: request.now.toISOString() }] },
          writes: [takeLoginRequest(request.tenant, about)],
        });
      },
    }),
    continue_to_login_otp: continueToLoginOtp,
    continue_to_login_security_key: continueToLoginSecurityKey,
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

import { z } from "zod";
import { auditAttempt } from "../../audit/audit.ts";
import { all, any, not } from "../../conditions/condition.ts";
import { configured, fact, flowIs } from "../../conditions/leaves.ts";
import { hasAcceptedFactor } from "../../methods/second-factors.ts";
import { totp } from "../../methods/totp/index.ts";
import { confirmTotp, newTotpSecret, showTotp } from "../../methods/totp/totp.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { enrolledFactor } from "../enrolled-factor.ts";
import { causeOf } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { rateLimited, reject } from "../outcome.ts";

/** The user adds a secret to an authenticator app, and confirms it by a code. */
export const mfaOtpSecretCreation = state({
  name: "mfa_otp_secret_creation",
  needs: ["userId"],
  async enter({ request, data, facts }) {
    const { userId, pending } = data;
    // The same secret until it is confirmed: it may already be in the app.
    const sealed = pending.unconfirmedTotp ?? newTotpSecret(request, userId);
    const account = facts.email ?? facts.username ?? userId;
    const { secret, image } = await showTotp(request, { userId, sealed, account });
    return {
      data: { pending: { ...pending, unconfirmedTotp: sealed } },
      secrets: { otp_secret: secret, otp_image_source: image },
    };
  },
  actions: (action) => ({
    otp_code_verify: action({
      description: "Enter the code that the authenticator app shows, to confirm that it is set up.",
      costs: ["write", "mail"],
      input: z.strictObject({ otp_code: z.string().length(6) }),
      // Another flow may have enrolled a factor concurrently, which is then required first.
      when: all(
        configured("mfa.totp.enabled"),
        not(fact("hasTotp")),
        any(flowIs("profile"), not(hasAcceptedFactor)),
      ),
      to: [NEXT],
      errors: ["passcode_invalid", "rate_limit_exceeded"],
      async run(context, { otp_code }) {
        const { request, data } = context;
        const { userId } = data;
        const { unconfirmedTotp: sealed } = data.pending;
        if (!sealed) return reject("passcode_invalid", { input: "otp_code", renew: true });
        const judged = await confirmTotp(request, { userId, sealed, code: otp_code });
        if (!judged.ok) {
          const { reason } = judged;
          const about = { userId, cause: causeOf(context) };
          const writes = [auditAttempt(request, "otp_creation_failed", { reason }, about)];
          if (reason === "rate_limited") return rateLimited(judged.retryAfterSeconds, { writes });
          return reject("passcode_invalid", { input: "otp_code", writes });
        }

        return enrolledFactor(context, totp, judged.confirmed, [judged.write]);
      },
    }),
    back,
  }),
});

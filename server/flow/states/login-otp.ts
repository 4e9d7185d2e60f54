import { z } from "zod";
import { acceptedFactors, canUse } from "../../methods/second-factors.ts";
import { totp } from "../../methods/totp/index.ts";
import { askForTotp, isCode, verifyTotp } from "../../methods/totp/totp.ts";
import { back } from "../actions/back.ts";
import { switchesFrom } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { state } from "../define.ts";
import { isAdmitted } from "../flow-statements.ts";
import { loginFailure } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { next, rateLimited, reject } from "../outcome.ts";

/** Second factor: the user enters the code of an authenticator app (TOTP, RFC 6238). */
export const loginOtp = state({
  name: "login_otp",
  needs: ["userId"],
  actions: (action) => ({
    otp_code_validate: action({
      description: "Enter the code that the authenticator app shows.",
      costs: ["write"],
      input: z.strictObject({ otp_code: z.string().length(6) }),
      to: [NEXT],
      errors: ["otp_code_invalid", "otp_code_already_used", "rate_limit_exceeded"],
      proves: () => "totp",
      asks({ known, ...asking }, { otp_code }) {
        const userId = known?.view.data.userId;
        if (!known?.view.facts.hasTotp || !userId || !isCode(String(otp_code))) return null;
        return askForTotp({ ...asking, now: known.now }, userId, isAdmitted);
      },
      async run(context, { otp_code }, asked) {
        const { request, data, facts, config } = context;
        const { userId } = data;
        // The app was removed concurrently: no code is required, and none is valid.
        if (!facts.hasTotp) return next();
        const hasAlternative =
          facts.hasRecoveryCode ||
          acceptedFactors(facts, config).some(
            (method) => method.name !== "totp" && canUse(method, data.capabilities, config),
          );
        const judged = await verifyTotp(request, { userId, code: otp_code, hasAlternative }, asked);
        if (!judged.ok) {
          const { reason } = judged;
          const writes = [loginFailure(context, { method: "totp", reason })];
          if (reason === "rate_limited") return rateLimited(judged.retryAfterSeconds, { writes });
          const code = reason === "already_used" ? "otp_code_already_used" : "otp_code_invalid";
          return reject(code, { input: "otp_code", writes });
        }
        return next({
          data: { factors: [...data.factors, { method: "totp", at: request.now.toISOString() }] },
          writes: [judged.write],
        });
      },
    }),
    ...switchesFrom(totp),
    recovery_code_validate: validateRecoveryCode,
    back,
  }),
});

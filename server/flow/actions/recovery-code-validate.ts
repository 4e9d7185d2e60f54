import { z } from "zod";
import { fact } from "../../conditions/leaves.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { verifyRecoveryCode } from "../../methods/recovery-code/recovery-codes.ts";
import { action } from "../define.ts";
import { loginFailure } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { next, rateLimited, reject } from "../outcome.ts";

/** Verifies a recovery code in place of a second factor; offered while the account has one. */
export const validateRecoveryCode = action({
  description: "Enter a recovery code in place of the second factor.",
  costs: ["write", "mail"],
  input: z.strictObject({ recovery_code: z.string().trim().max(64) }),
  when: fact("hasRecoveryCode"),
  to: [NEXT],
  errors: ["recovery_code_invalid", "rate_limit_exceeded"],
  proves: () => "recovery_code",
  async run(context, { recovery_code }) {
    const { request, data, facts } = context;
    const { userId } = data;
    if (!userId) return reject("recovery_code_invalid", { input: "recovery_code" });
    const judged = await verifyRecoveryCode(request, { userId, code: recovery_code });
    if (!judged.ok) {
      const { reason } = judged;
      const writes = [loginFailure(context, { method: "recovery_code", reason })];
      return reason === "rate_limited"
        ? rateLimited(judged.retryAfterSeconds, { writes })
        : reject("recovery_code_invalid", { input: "recovery_code", writes });
    }
    return next({
      data: { factors: [...data.factors, { method: "recovery_code", at: request.now.toISOString() }] },
      writes: [judged.write],
      jobs: securityNotice(request, "recovery_code_use", facts.email),
    });
  },
});

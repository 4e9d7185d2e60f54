import { z } from "zod";
import { acceptedFactors } from "../../methods/second-factors.ts";
import { bySms } from "../../methods/sms/by-sms.ts";
import { sms } from "../../methods/sms/index.ts";
import { back } from "../actions/back.ts";
import { switchesFrom } from "../actions/continue-to-second-factor.ts";
import { validateRecoveryCode } from "../actions/recovery-code-validate.ts";
import { type Context, state, type View } from "../define.ts";
import { NEXT, STAY } from "../names.ts";
import { next, stay } from "../outcome.ts";
import { enterWithCode, resendCode, verifyCode } from "../sent-codes.ts";

type SmsContext = Context<"userId">;

/**
 * Second factor, where the account has no other one: the user enters a code that was sent by SMS to the verified number of
 * the account.
 */
export const loginSms = state({
  name: "login_sms",
  needs: ["userId"],
  // Where the number was removed, or another factor set up, nothing is sent: the next action goes on in the plan.
  enter: async (context) => (isRequired(context) ? enterWithCode(context, subjectOf(context)) : {}),
  shows: ({ config }) => ({ code_lifetime: config.phone.code_ttl }),
  actions: (action) => ({
    verify_passcode: action({
      description: "Enter the code that was sent by SMS.",
      costs: ["write"],
      input: z.strictObject({ code: z.string().length(6) }),
      to: [NEXT],
      errors: ["passcode_invalid", "passcode_max_attempts_reached"],
      proves: () => "sms",
      async run(context, { code }) {
        // The plan asks for what the account has now.
        if (!isRequired(context)) return next();
        const verified = await verifyCode(context, subjectOf(context), code);
        if (!verified.ok) return verified.rejection;
        const factor = { method: "sms" as const, at: context.request.now.toISOString() };
        return next({ data: { factors: [...context.data.factors, factor] }, writes: [verified.write] });
      },
    }),
    resend_passcode: action({
      description: "Send a new code by SMS.",
      costs: ["write", "mail"],
      to: [STAY],
      errors: ["rate_limit_exceeded"],
      run: (context) =>
        isRequired(context) ? resendCode(context, subjectOf(context)) : stay({}, { enter: false }),
    }),
    ...switchesFrom(sms),
    recovery_code_validate: validateRecoveryCode,
    // A first factor ends the history, but for the account page.
    back: { ...back, flows: ["profile"] },
  }),
});

/** Whether a code by SMS is still the second factor that the account is asked for. */
const isRequired = ({ facts, config }: Pick<View, "facts" | "config">) =>
  acceptedFactors(facts, config).some(({ name }) => name === "sms");

function subjectOf({ flowId, data, facts }: SmsContext) {
  return {
    channel: bySms,
    flowId,
    purpose: "sms_second_factor" as const,
    decoy: false,
    hasAlternative: facts.hasRecoveryCode,
    recipient: facts.phone,
    identifier: data.userId,
    userId: data.userId,
  };
}

import { z } from "zod";
import type { FailureReason } from "../../audit/failure-reasons.ts";
import { all, any, holds, not } from "../../conditions/condition.ts";
import { configured, fact } from "../../conditions/leaves.ts";
import { passcode } from "../../methods/passcode/index.ts";
import {
  askForPassword,
  type PasswordAttempt,
  type PasswordVerdict,
  verifyPassword,
} from "../../methods/password/passwords.ts";
import { back } from "../actions/back.ts";
import { continueToLoginMethodChooser } from "../actions/continue-to-login-method-chooser.ts";
import { type Context, choice, state, type View } from "../define.ts";
import { loginCode } from "../expected-codes.ts";
import { isAdmitted } from "../flow-statements.ts";
import { loginFailure } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { next, rateLimited, reject } from "../outcome.ts";

/** The user enters a password. `verifyPassword` checks it and counts failed attempts. */
export const loginPassword = state({
  name: "login_password",
  needs: ["identifier"],
  actions: (action) => ({
    password_login: action({
      description: "Sign in with a password.",
      costs: ["hash", "write"],
      input: z.strictObject({ password: z.string().meta({ input: "password" }) }),
      when: configured("password.enabled"),
      to: [NEXT],
      errors: ["value_invalid_error", "rate_limit_exceeded"],
      proves: () => "password",
      asks({ known, ...asking }, { password }) {
        const attempt = known && attemptOf(known.view, String(password));
        return attempt && askForPassword({ ...asking, now: known.now }, attempt, isAdmitted);
      },
      async run(context, { password }, asked) {
        const { request, data } = context;
        const verified = await verifyPassword(request, attemptOf(context, password), asked);
        if (!verified.ok) {
          const reason = reasonOf(context, verified.reason);
          const writes = [loginFailure(context, { method: "password", reason })];
          return verified.reason === "rate_limited"
            ? rateLimited(verified.retryAfterSeconds, { writes })
            : reject("value_invalid_error", { input: "password", writes });
        }
        return next({
          data: { factors: [...data.factors, { method: "password", at: request.now.toISOString() }] },
          writes: [verified.write],
        });
      },
    }),
    continue_to_passcode_confirmation_recovery: choice({
      description: "Set a new password, after entering a code sent by email.",
      costs: ["write", "mail"],
      // Offered without an address too, so as not to reveal that, unless the configuration shows actual methods.
      when: all(
        configured("password.recovery"),
        configured("email.enabled"),
        any(fact("email"), not(configured("privacy.only_show_actual_login_methods"))),
      ),
      to: "passcode_confirmation",
      data: ({ data }) => loginCode("email", data, "recovery"),
    }),
    continue_to_login_method_chooser: continueToLoginMethodChooser,
    back,
  }),
});

/** The attempt, and by which other methods the account can sign in. */
function attemptOf({ data, facts, config }: View, password: string): PasswordAttempt {
  const { identifier, email, userId } = data;
  const hasPasskey = config.passkey.enabled && facts.hasPasskey;
  const mailbox =
    holds(passcode.firstFactor.enabled, { config }) && facts.email !== null ? (email ?? facts.email) : null;
  return {
    password,
    identifier: identifier?.value ?? "",
    hasAlternative: hasPasskey || mailbox !== null,
    ...(mailbox !== null && !hasPasskey ? { codesOnlyTo: mailbox } : {}),
    ...(userId ? { userId } : {}),
  };
}

type PasswordRejection = (PasswordVerdict & { ok: false })["reason"];

/** Why a password was rejected, for the operator alone: the answer to the user does not tell. */
function reasonOf({ data, facts }: Context, reason: PasswordRejection): FailureReason<"login_failure"> {
  if (reason === "rate_limited") return reason;
  if (!data.userId) return "unknown_identifier";
  return facts.hasPassword ? reason : "no_password";
}

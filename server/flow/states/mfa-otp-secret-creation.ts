import { z } from "zod";
import { audit, auditAttempt } from "../../audit/audit.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { hasSecondFactor } from "../../methods/second-factors.ts";
import { confirmTotp, insertTotp, newTotpSecret, showTotp } from "../../methods/totp/totp.ts";
import { revokeDevices } from "../../sessions/trusted-devices.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { causeOf } from "../login-failure.ts";
import { NEXT } from "../names.ts";
import { requireCredentialAddable } from "../new-credential.ts";
import { next, rateLimited, reject } from "../outcome.ts";

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
      when: ({ type, config, facts }) =>
        config.mfa.totp.enabled && !facts.hasTotp && (type === "profile" || !hasSecondFactor(facts, config)),
      to: [NEXT],
      errors: ["passcode_invalid", "rate_limit_exceeded"],
      async run(context, { otp_code }) {
        const { type, request, data, facts } = context;
        const { userId } = data;
        const { unconfirmedTotp: sealed, ...pending } = data.pending;
        if (!sealed) return reject("passcode_invalid", { input: "otp_code", renew: true });
        const judged = await confirmTotp(request, { userId, sealed, code: otp_code });
        if (!judged.ok) {
          const { reason } = judged;
          const about = { userId, cause: causeOf(context) };
          const writes = [auditAttempt(request, "otp_creation_failed", { reason }, about)];
          if (reason === "rate_limited") return rateLimited(judged.retryAfterSeconds, { writes });
          return reject("passcode_invalid", { input: "otp_code", writes });
        }

        const { confirmed, write } = judged;
        if (type === "registration" && !data.signedUp) {
          return next({
            data: { pending: { ...pending, totp: confirmed }, enrolled: true },
            writes: [write],
          });
        }
        return next({
          data: { pending, enrolled: true },
          facts: { hasTotp: true, deviceTrusted: false },
          writes: [
            requireCredentialAddable(context),
            insertTotp(request, userId, confirmed),
            // Trust that was granted without this factor ends.
            (tx) => revokeDevices(tx, request.tenant.id, userId),
            write,
            audit(request, "otp_created", {}, userId),
          ],
          jobs: securityNotice(request, "mfa_create", facts.email, { factor: "totp" }),
        });
      },
    }),
    back,
  }),
});

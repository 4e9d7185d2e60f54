import { endWhatIsOpen } from "../../account/first-proof.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import { replacePassword } from "../../credentials/passwords.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { newPassword, refusedPassword } from "../new-password.ts";
import { next } from "../outcome.ts";

/** A code was confirmed; the person sets a new password, and whoever had the old one is signed out everywhere. */
export const loginPasswordRecovery = state({
  name: "login_password_recovery",
  needs: ["userId"],
  actions: (action) => ({
    password_recovery: action({
      description: "Set a new password.",
      input: newPassword,
      when: ({ config }) => config.password.enabled,
      to: [NEXT],
      errors: ["value_too_short_error", "value_too_long_error", "value_invalid_error"],
      async run({ request, flowId, data, facts, config }, { new_password }) {
        const refusal = refusedPassword(new_password, config, facts);
        if (refusal) return refusal;
        const { tenant, runtime, signal } = request;
        const hash = await runtime.passwordHasher.hash(new_password, signal);
        return next({
          data: { recovering: undefined },
          facts: { hasPassword: true, deviceTrusted: false },
          writes: [
            (tx) => endWhatIsOpen(tx, tenant.id, data.userId, flowId),
            replacePassword(request, data.userId, hash),
            audit(request, "password_changed", { by: "recovery" }, data.userId),
          ],
          jobs: securityNotice(request, "password_update", facts.email),
        });
      },
    }),
  }),
});

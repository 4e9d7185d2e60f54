import { revokeAccess } from "../../account/access-revocation.ts";
import { audit } from "../../audit/audit.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { replacePassword } from "../../methods/password/passwords.ts";
import { state } from "../define.ts";
import { NEXT } from "../names.ts";
import { newPasswordErrors, newPasswordInput, rejectNewPassword } from "../new-password.ts";
import { next } from "../outcome.ts";

/** After a recovery code mail was confirmed, the user sets a new password. Ends all other sessions. */
export const loginPasswordRecovery = state({
  name: "login_password_recovery",
  needs: ["userId"],
  actions: (action) => ({
    password_recovery: action({
      description: "Set a new password.",
      costs: ["hash", "write", "mail"],
      input: newPasswordInput,
      when: configured("password.enabled"),
      to: [NEXT],
      errors: newPasswordErrors,
      async run({ request, flowId, data, facts, config }, { new_password }) {
        const rejection = rejectNewPassword(new_password, config, facts);
        if (rejection) return rejection;
        const { runtime, signal } = request;
        const hash = await runtime.passwordHasher.hash(new_password, signal);
        return next({
          data: { recovering: undefined },
          facts: { hasPassword: true, deviceTrusted: false },
          writes: [
            (tx) => revokeAccess(tx, request, data.userId, flowId),
            replacePassword(request, data.userId, hash),
            audit(request, "password_changed", { by: "recovery" }, data.userId),
            emit(request, "user.update.password.update", data.userId),
          ],
          jobs: securityNotice(request, "password_update", facts.email),
        });
      },
    }),
  }),
});

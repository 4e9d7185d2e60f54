import { audit } from "../../audit/audit.ts";
import { all } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { createPassword } from "../../methods/password/passwords.ts";
import { back } from "../actions/back.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { isPendingRegistration } from "../facts.ts";
import { NEXT } from "../names.ts";
import { newPasswordErrors, newPasswordInput, rejectNewPassword } from "../new-password.ts";
import { next } from "../outcome.ts";
import { canDoWithout } from "../plan.ts";

/** The user sets a password. */
export const passwordCreation = state({
  name: "password_creation",
  needs: ["userId"],
  actions: (action) => ({
    register_password: action({
      description: "Set a password.",
      costs: ["hash", "write"],
      input: newPasswordInput,
      to: [NEXT],
      errors: newPasswordErrors,
      async run({ type, request, data, facts, config }, { new_password }) {
        // Another flow of the user set one concurrently.
        if (facts.hasPassword) return next();
        const rejection = rejectNewPassword(new_password, config, facts);
        if (rejection) return rejection;
        const hash = await request.runtime.passwordHasher.hash(new_password, request.signal);
        if (isPendingRegistration({ type, data }))
          return next({ data: { pending: { ...data.pending, passwordHash: hash } } });
        return next({
          facts: { hasPassword: true },
          writes: [
            createPassword(request, data.userId, hash),
            audit(request, "password_changed", {}, data.userId),
          ],
          jobs: securityNotice(request, "password_update", facts.email),
        });
      },
    }),
    skip: skip(all(configured("password.optional"), canDoWithout("password_creation"))),
    back,
  }),
});

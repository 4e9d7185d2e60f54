import { z } from "zod";
import type { Write } from "#db/write";
import { endSignIns } from "../../account/access-revocation.ts";
import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { all, holds, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { createPassword, deletePassword, replacePassword } from "../../methods/password/passwords.ts";
import { revokeDevices } from "../../sessions/trusted-devices.ts";
import { byConfig } from "../inputs.ts";
import { STAY } from "../names.ts";
import { newPassword, newPasswordErrors, rejectNewPassword } from "../new-password.ts";
import { stay } from "../outcome.ts";
import { primaryAddressOf } from "./emails.ts";
import { canDoWithout, owns, type ProfileContext, sensitiveAction } from "./profile-action.ts";
import { endOthersIf, withEndOfOthers } from "./sessions.ts";

const input = byConfig((config) => z.strictObject({ password: newPassword(config) }));
const noInput = z.strictObject({});

const mayRemove = all(
  configured("password.enabled"),
  configured("password.optional"),
  owns("hasPassword"),
  canDoWithout({ password: true }, "the password"),
);

/** Profile actions on the password. */
export const passwordActions = {
  password_create: sensitiveAction({
    description: "Set a password.",
    costs: ["hash", "write", "mail"],
    input,
    when: all(configured("password.enabled"), not(owns("hasPassword"))),
    to: [STAY],
    errors: newPasswordErrors,
    run: (context, { password }) => setPassword(context, password, createPassword),
  }),
  password_update: sensitiveAction({
    description: "Set another password.",
    costs: ["hash", "write", "mail"],
    canAlwaysReauthenticate: true,
    input: (view) => withEndOfOthers(input(view), view),
    when: all(configured("password.enabled"), owns("hasPassword")),
    to: [STAY],
    errors: newPasswordErrors,
    run: (context, { password, end_other_sessions }) =>
      setPassword(context, password, replacePassword, [
        emit(context.request, "user.update.password.update", context.account.profile.id),
        ...endOthersIf(end_other_sessions, context),
      ]),
  }),
  password_delete: sensitiveAction({
    description: "Remove the password.",
    costs: ["write", "mail"],
    canAlwaysReauthenticate: true,
    input: (view) => withEndOfOthers(noInput, view),
    when: mayRemove,
    to: [STAY],
    run(context, { end_other_sessions }) {
      const { request, account } = context;
      const { id } = account.profile;
      return stay({
        facts: { hasPassword: false },
        writes: [
          requireAccount(request, id, (current) => holds(mayRemove, { ...context, account: current })),
          deletePassword(request, id),
          (tx) => endSignIns(tx, request.tenant.id, id),
          audit(request, "password_deleted", {}, id),
          (tx) => revokeDevices(tx, request.tenant.id, id),
          ...endOthersIf(end_other_sessions, context),
        ],
        jobs: securityNotice(request, "password_delete", primaryAddressOf(account)),
      });
    },
  }),
};

async function setPassword(
  { request, account, config, facts }: ProfileContext,
  password: string,
  writePassword: typeof replacePassword,
  alsoWrites: Write[] = [],
) {
  const rejection = rejectNewPassword(password, config, facts, "password");
  if (rejection) return rejection;
  const { id } = account.profile;
  const hash = await request.runtime.passwordHasher.hash(password, request.signal);
  const writes: Write[] = [
    requireAccount(request, id, ({ has }) => has.hasPassword === account.has.hasPassword),
    writePassword(request, id, hash),
    (tx) => endSignIns(tx, request.tenant.id, id),
    audit(request, "password_changed", { by: "profile" }, id),
    // Revokes the trust that was granted with the old password.
    (tx) => revokeDevices(tx, request.tenant.id, id),
    ...alsoWrites,
  ];
  return stay({
    facts: { hasPassword: true },
    writes,
    jobs: securityNotice(request, "password_update", primaryAddressOf(account)),
  });
}

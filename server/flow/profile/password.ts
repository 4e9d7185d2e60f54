import { z } from "zod";
import type { Write } from "#db/write";
import { whileAccount } from "../../account/account.ts";
import { endSignIns } from "../../account/first-proof.ts";
import { remainsReachable } from "../../account/reachability.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import { checkNewPassword, contextWords } from "../../credentials/password-policy.ts";
import { createPassword, deletePassword, replacePassword } from "../../credentials/passwords.ts";
import { revokeDevices } from "../../credentials/trusted-devices.ts";
import { byConfig } from "../inputs.ts";
import { STAY } from "../names.ts";
import { refuse, stay } from "../outcome.ts";
import { primaryOf } from "./emails.ts";
import { type OwnContext, type OwnView, sensitiveAction } from "./profile-action.ts";

/** Announced here, judged by the policy; only what is far beyond it ends before that. */
const input = byConfig(({ password }) =>
  z.strictObject({
    password: z
      .string()
      .max(4 * password.max_length)
      .meta({ input: "password", minLength: password.min_length, maxLength: password.max_length }),
  }),
);

const errors = ["value_too_short_error", "value_too_long_error", "value_invalid_error"] as const;

/** What people do with the password of their account. */
export const passwordActions = {
  password_create: sensitiveAction({
    description: "Set a password.",
    input,
    when: ({ account, config }) => config.password.enabled && !account.hasPassword,
    to: [STAY],
    errors,
    run: (context, { password }) => setPassword(context, password, createPassword),
  }),
  password_update: sensitiveAction({
    description: "Set another password.",
    provable: true,
    input,
    when: ({ account, config }) => config.password.enabled && account.hasPassword,
    to: [STAY],
    errors,
    run: (context, { password }) => setPassword(context, password, replacePassword),
  }),
  password_delete: sensitiveAction({
    description: "Remove the password.",
    provable: true,
    when: mayDelete,
    to: [STAY],
    run(context) {
      const { request, account } = context;
      const { id } = account.profile;
      return stay({
        facts: { hasPassword: false },
        writes: [
          whileAccount(request, id, (current) => mayDelete({ ...context, account: current })),
          deletePassword(request, id),
          (tx) => endSignIns(tx, request.tenant.id, id),
          audit(request, "password_deleted", {}, id),
          (tx) => revokeDevices(tx, request.tenant.id, id),
        ],
        jobs: securityNotice(request, "password_delete", primaryOf(account)),
      });
    },
  }),
};

function mayDelete({ account, config }: Pick<OwnView, "account" | "config">): boolean {
  const { enabled, optional } = config.password;
  return enabled && optional && account.hasPassword && remainsReachable(account, config, { password: true });
}

async function setPassword(
  { request, account, config, facts }: OwnContext,
  password: string,
  written: typeof createPassword,
) {
  const fault = checkNewPassword(password, { config, contextWords: contextWords(config, facts) });
  if (fault) return refuse(fault.code, { input: "password", message: fault.message });
  const { id } = account.profile;
  const hash = await request.runtime.passwordHasher.hash(password, request.signal);
  const writes: Write[] = [
    whileAccount(request, id, ({ hasPassword }) => hasPassword === account.hasPassword),
    written(request, id, hash),
    (tx) => endSignIns(tx, request.tenant.id, id),
    audit(request, "password_changed", { by: "profile" }, id),
    // What was trusted after the old password is trusted no more.
    (tx) => revokeDevices(tx, request.tenant.id, id),
  ];
  return stay({
    facts: { hasPassword: true },
    writes,
    jobs: securityNotice(request, "password_update", primaryOf(account)),
  });
}

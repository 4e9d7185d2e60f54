import { z } from "zod";
import type { Write } from "#db/write";
import { type Account, whileAccount } from "../../account/account.ts";
import { endSignIns } from "../../account/first-proof.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import type { Config } from "../../config/schema.ts";
import { deleteCredential } from "../../credentials/owned-credentials.ts";
import { deleteRecoveryCodes, replaceRecoveryCodes } from "../../credentials/recovery-codes.ts";
import { deleteTotp } from "../../credentials/totp.ts";
import { revokeDevices } from "../../credentials/trusted-devices.ts";
import type { RequestContext } from "../../runtime.ts";
import type { Facts } from "../facts.ts";
import { STAY } from "../names.ts";
import { go, refuse, stay } from "../outcome.ts";
import { answersRequests, canUseSecurityKeys } from "../second-factor.ts";
import { ownId } from "./choice.ts";
import { primaryOf } from "./emails.ts";
import { sensitiveAction } from "./profile-action.ts";

/** What people do with the second factors of their account. */
export const factorActions = {
  continue_to_otp_secret_creation: sensitiveAction({
    description: "Set up an authenticator app.",
    when: ({ account: { profile } }) =>
      profile.mfa_config.totp_enabled && !profile.mfa_config.auth_app_set_up,
    to: ["mfa_otp_secret_creation"],
    run: () => go("mfa_otp_secret_creation"),
  }),
  otp_secret_delete: sensitiveAction({
    description: "Remove the authenticator app.",
    when: ({ account, config, facts }) => mayDeleteApp(account, config, facts),
    to: [STAY],
    run({ request, account, config, facts }) {
      const { id } = account.profile;
      const last = keysOf(account).length === 0 && !answersRequests(facts, config);
      return stay({
        facts: { hasTotp: false, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          whileAccount(request, id, (current) => mayDeleteApp(current, config, facts)),
          deleteTotp(request, id),
          audit(request, "otp_deleted", {}, id),
          ...afterRemoval(request, id, last),
        ],
        jobs: securityNotice(request, "mfa_delete", primaryOf(account), { factor: "totp" }),
      });
    },
  }),
  security_key_create: sensitiveAction({
    description: "Set up a security key.",
    when: ({ account, config, data }) =>
      canUseSecurityKeys(data.capabilities, config) && mayAddKey(account, config),
    to: ["webauthn_credential_verification"],
    run: () => go("webauthn_credential_verification", { data: { creating: "security_key" } }),
  }),
  security_key_delete: sensitiveAction({
    description: "Remove a security key.",
    input: z.strictObject({ security_key_id: ownId() }),
    when: ({ account, config, facts }) => mayDeleteKey(account, config, facts),
    to: [STAY],
    errors: ["not_found"],
    run({ request, account, config, facts }, { security_key_id }) {
      if (!keysOf(account).some(({ id }) => id === security_key_id)) return refuse("not_found");
      const { id: userId } = account.profile;
      const lastKey = keysOf(account).length === 1;
      const last = lastKey && !hasApp(account) && !answersRequests(facts, config);
      return stay({
        facts: { hasSecurityKey: !lastKey, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          whileAccount(request, userId, (current) => mayDeleteKey(current, config, facts)),
          deleteCredential(request, userId, { id: security_key_id, mfaOnly: true }),
          audit(request, "security_key_deleted", {}, userId),
          ...afterRemoval(request, userId, last),
        ],
        jobs: securityNotice(request, "mfa_delete", primaryOf(account), { factor: "security_key" }),
      });
    },
  }),
  recovery_codes_create: sensitiveAction({
    description: "Get new recovery codes; those before are worth nothing from then on.",
    when: ({ account, config, facts }) => mayHaveCodes(account, config, facts),
    to: [STAY],
    run({ request, account, config, facts }) {
      const { id } = account.profile;
      const { codes, write } = replaceRecoveryCodes(request, id);
      return stay({
        secrets: { recovery_codes: codes },
        facts: { hasRecoveryCode: true },
        writes: [
          whileAccount(request, id, (current) => mayHaveCodes(current, config, facts)),
          write,
          audit(request, "recovery_codes_created", {}, id),
        ],
        jobs: securityNotice(request, "mfa_create", primaryOf(account), { factor: "recovery_codes" }),
      });
    },
  }),
};

/** Whether an account may have one more security key. */
export function mayAddKey(account: Account, { mfa }: Config): boolean {
  return mfa.enabled && mfa.security_keys.enabled && keysOf(account).length < mfa.security_keys.limit;
}

/** An app can be removed while apps are switched off too, unless it is the second factor that has to be. */
function mayDeleteApp(account: Account, config: Config, facts: Facts): boolean {
  const { auth_app_set_up } = account.profile.mfa_config;
  const others = keysOf(account).length > 0 || answersRequests(facts, config);
  return auth_app_set_up && (!needsFactor(config) || others);
}

function mayDeleteKey(account: Account, config: Config, facts: Facts): boolean {
  const left = keysOf(account).length - 1;
  const others = left > 0 || hasApp(account) || answersRequests(facts, config);
  return left >= 0 && (!needsFactor(config) || others);
}

/**
 * Codes stand in for a second factor, so there has to be one. A phone is registered by an application and not here, so
 * this is where whoever has nothing else gets theirs.
 */
function mayHaveCodes(account: Account, config: Config, facts: Facts): boolean {
  const { mfa } = config;
  const stoodInFor = hasApp(account) || keysOf(account).length > 0 || answersRequests(facts, config);
  return mfa.enabled && mfa.recovery_codes && stoodInFor;
}

/** Security keys, where they are second factors. */
const keysOf = ({ profile }: Account) => profile.security_keys ?? [];

/** Whether an app is a second factor of this account. */
const hasApp = ({ profile: { mfa_config } }: Account) =>
  mfa_config.totp_enabled && mfa_config.auth_app_set_up;

const needsFactor = ({ mfa }: Config) => mfa.enabled && !mfa.optional;

/** Browsers are asked for the second factor anew; codes go with the last factor that they stood in for. */
function afterRemoval(request: RequestContext, userId: string, last: boolean): Write[] {
  return [
    (tx) => revokeDevices(tx, request.tenant.id, userId),
    // Whoever has set it up and is on the way in by it gets no further.
    (tx) => endSignIns(tx, request.tenant.id, userId),
    ...(last ? [deleteRecoveryCodes(request, userId)] : []),
  ];
}

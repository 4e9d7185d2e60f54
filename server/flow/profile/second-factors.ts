import { z } from "zod";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { endSignIns } from "../../account/access-revocation.ts";
import { type Account, requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { deleteDevice } from "../../authenticator/devices.ts";
import type { Config } from "../../config/schema.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { authenticator } from "../../methods/authenticator/index.ts";
import {
  type RemovableMethod,
  removableMethods,
  type SecondFactorMethod,
  type SingleMethod,
  secondFactors,
} from "../../methods/index.ts";
import { deleteRecoveryCodes, replaceRecoveryCodes } from "../../methods/recovery-code/recovery-codes.ts";
import { canUse, isAccepted } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { deleteCredential } from "../../methods/webauthn-credentials.ts";
import type { RequestContext } from "../../runtime.ts";
import { revokeDevice, revokeDevices } from "../../sessions/trusted-devices.ts";
import type { Action, NoInput } from "../define.ts";
import { STAY } from "../names.ts";
import { go, reject, stay } from "../outcome.ts";
import { itemId } from "./choice.ts";
import { primaryAddressOf } from "./emails.ts";
import { profileAction, sensitiveAction } from "./profile-action.ts";
import { endOthersIf, withEndOfOthers } from "./sessions.ts";

const noInput = z.strictObject({});
const phoneInput = z.strictObject({ authenticator_id: itemId() });
const securityKeyInput = z.strictObject({ security_key_id: itemId() });

/** Profile actions on second factors and recovery codes. */
export const secondFactorActions = {
  ...enrolmentsOfSingle(),
  ...removalsOfSingle(),
  security_key_create: sensitiveAction({
    description: "Set up a security key.",
    costs: ["write"],
    when: ({ account, config, data }) =>
      canUse(securityKey, data.capabilities, config) && mayAddSecurityKey(account, config),
    to: ["webauthn_credential_verification"],
    run: () => go("webauthn_credential_verification", { data: { credentialKind: "security_key" } }),
  }),
  security_key_delete: sensitiveAction({
    description: "Remove a security key.",
    costs: ["write", "mail"],
    input: (view) => withEndOfOthers(securityKeyInput, view),
    when: ({ account, config }) => mayDeleteKey(account, config),
    to: [STAY],
    errors: ["not_found"],
    run(context, { security_key_id, end_other_sessions }) {
      const { request, account, config } = context;
      if (!keysOf(account).some(({ id }) => id === security_key_id)) return reject("not_found");
      const { id: userId } = account.profile;
      const lastKey = keysOf(account).length === 1;
      const last = !hasOthers(account, config, "security_key");
      return stay({
        facts: { hasSecurityKey: !lastKey, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          requireAccount(request, userId, (current) => mayDeleteKey(current, config)),
          deleteCredential(request, userId, { id: security_key_id, mfaOnly: true }),
          audit(request, "security_key_deleted", {}, userId),
          ...afterRemoval(request, userId, last),
          ...endOthersIf(end_other_sessions, context),
        ],
        jobs: securityNotice(request, "mfa_delete", primaryAddressOf(account), { factor: "security_key" }),
      });
    },
  }),
  authenticator_delete: sensitiveAction({
    description: "Remove an authenticator, such as an app on a phone.",
    costs: ["write", "mail"],
    input: (view) => withEndOfOthers(phoneInput, view),
    when: ({ account, config }) => mayDeletePhone(account, config),
    to: [STAY],
    errors: ["not_found"],
    run(context, { authenticator_id, end_other_sessions }) {
      const { request, account, config } = context;
      const isOwn = (current: Account) =>
        current.belongings.phones.some(({ id }) => id === authenticator_id) &&
        mayDeletePhone(current, config);
      if (!isOwn(account)) return reject("not_found");
      const { id } = account.profile;
      const lastPhone = account.belongings.phones.length === 1;
      const isFactor = isAccepted(authenticator, config);
      const last = isFactor && !hasOthers(account, config, "authenticator");
      return stay({
        facts: { hasAuthenticator: !lastPhone, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          requireAccount(request, id, isOwn),
          async (tx) => {
            await deleteDevice(tx, { tenantId: request.tenant.id, id: authenticator_id });
          },
          audit(request, "authenticator_deregistered", { device_id: authenticator_id }, id),
          ...(isFactor ? afterRemoval(request, id, last) : []),
          ...endOthersIf(end_other_sessions, context),
        ],
        jobs: isFactor
          ? securityNotice(request, "mfa_delete", primaryAddressOf(account), { factor: "authenticator" })
          : [],
      });
    },
  }),
  trusted_device_delete: profileAction({
    description: "End the trust in a browser, which then needs the second factor again.",
    costs: ["write"],
    input: z.strictObject({ trusted_device_id: itemId() }),
    when: ({ account }) => account.belongings.trustedBrowsers.length > 0,
    to: [STAY],
    errors: ["not_found"],
    run({ request, account }, { trusted_device_id: id }) {
      if (!account.belongings.trustedBrowsers.some((browser) => browser.id === id))
        return reject("not_found");
      const { id: userId } = account.profile;
      return stay({
        writes: [
          async (tx) => {
            // The browser was used concurrently, which replaced its token.
            if (!(await revokeDevice(tx, request.tenant.id, { userId, id })))
              throw new ConflictError("account");
          },
          audit(request, "trusted_device_revoked", {}, userId),
        ],
      });
    },
  }),
  recovery_codes_create: sensitiveAction({
    description: "Get new recovery codes; earlier ones become invalid.",
    costs: ["write", "mail"],
    when: ({ account, config }) => mayHaveCodes(account, config),
    to: [STAY],
    run({ request, account, config }) {
      const { id } = account.profile;
      const { codes, write } = replaceRecoveryCodes(request, id);
      return stay({
        once: { recovery_codes: codes },
        facts: { hasRecoveryCode: true },
        writes: [
          requireAccount(request, id, (current) => mayHaveCodes(current, config)),
          write,
          audit(request, "recovery_codes_created", {}, id),
        ],
        jobs: securityNotice(request, "mfa_create", primaryAddressOf(account), { factor: "recovery_codes" }),
      });
    },
  }),
};

/** The actions that set up second factors of which an account has one, by their names. */
function enrolmentsOfSingle(): {
  [Method in RemovableMethod as Method["secondFactor"]["enrolment"]["action"]]: Action<NoInput>;
} {
  const enrolments = removableMethods.map((method) => {
    const { action, state, description } = method.secondFactor.enrolment;
    const enrolment = sensitiveAction({
      description,
      when: ({ account, config }) => isAccepted(method, config) && !account.has[method.fact],
      to: [state],
      run: () => go(state),
    });
    return [action, enrolment] as const;
  });
  return Object.fromEntries(enrolments) as ReturnType<typeof enrolmentsOfSingle>;
}

/** The actions that remove them, by their names. */
function removalsOfSingle(): {
  [Method in RemovableMethod as Method["removal"]["action"]]: ReturnType<typeof removalOf>;
} {
  const removals = removableMethods.map((method) => [method.removal.action, removalOf(method)] as const);
  return Object.fromEntries(removals) as ReturnType<typeof removalsOfSingle>;
}

function removalOf(method: RemovableMethod) {
  const { description, write, audit: entry } = method.removal;
  const { notice } = method.secondFactor;
  return sensitiveAction({
    description,
    costs: ["write", "mail"],
    input: (view) => withEndOfOthers(noInput, view),
    when: ({ account, config }) => mayDelete(method, account, config),
    to: [STAY],
    run(context, { end_other_sessions }) {
      const { request, account, config } = context;
      const { id } = account.profile;
      const last = !hasOthers(account, config, method.name);
      return stay({
        facts: { [method.fact]: false, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          requireAccount(request, id, (current) => mayDelete(method, current, config)),
          write(request, id),
          audit(request, entry, {}, id),
          ...afterRemoval(request, id, last),
          ...endOthersIf(end_other_sessions, context),
        ],
        jobs: securityNotice(request, "mfa_delete", primaryAddressOf(account), { factor: notice }),
      });
    },
  });
}

/** Whether an account may have one more security key. */
export function mayAddSecurityKey(account: Account, { mfa }: Config): boolean {
  return mfa.enabled && mfa.security_keys.enabled && keysOf(account).length < mfa.security_keys.limit;
}

/** Whether a second factor may be removed, even while it is disabled; not if it is the last required one. */
function mayDelete({ name, fact }: RemovableMethod, account: Account, config: Config): boolean {
  return account.has[fact] && (!needsFactor(config) || hasOthers(account, config, name));
}

function mayDeleteKey(account: Account, config: Config): boolean {
  const hasKey = keysOf(account).length > 0;
  return hasKey && (!needsFactor(config) || hasOthers(account, config, "security_key"));
}

/** Whether a phone may be removed, even one that is no second factor; not the last required factor. */
function mayDeletePhone(account: Account, config: Config): boolean {
  const isNeeded = needsFactor(config) && isAccepted(authenticator, config);
  const hasPhone = account.belongings.phones.length > 0;
  return hasPhone && (!isNeeded || hasOthers(account, config, "authenticator"));
}

/**
 * Whether the account may have recovery codes: only with a second factor. An authenticator (UAF) is registered by an
 * application, so its user gets the codes here.
 */
function mayHaveCodes(account: Account, config: Config): boolean {
  const { mfa } = config;
  const hasFactor = Object.values(factorsOf(account, config)).some((count) => count > 0);
  return mfa.enabled && mfa.recovery_codes && hasFactor;
}

type FactorName = SecondFactorMethod["name"];

/** How many second factors of each kind the account has, of those that the configuration accepts. */
function factorsOf(account: Account, config: Config): Record<FactorName, number> {
  const counts: Record<Exclude<FactorName, SingleMethod["name"]>, number> = {
    security_key: keysOf(account).length,
    authenticator: account.belongings.phones.length,
    sms: Number(account.profile.phone_number_verified === true),
  };
  const count = (method: SecondFactorMethod) =>
    method.isSingle ? Number(account.has[method.fact]) : counts[method.name];
  return Object.fromEntries(
    secondFactors.map((method) => [method.name, isAccepted(method, config) ? count(method) : 0]),
  ) as Record<FactorName, number>;
}

/** Whether the account has another second factor than one of this kind. */
export function hasOthers(account: Account, config: Config, removed: FactorName): boolean {
  const { [removed]: same, ...others } = factorsOf(account, config);
  return same > 1 || Object.values<number>(others).some((count) => count > 0);
}

/** Lists the security keys of an account. */
const keysOf = ({ profile }: Account) => profile.security_keys ?? [];

export const needsFactor = ({ mfa }: Config) => mfa.enabled && !mfa.optional;

/** Writes after the removal of a factor: revokes trusted devices and, with the last factor, recovery codes. */
function afterRemoval(request: RequestContext, userId: string, last: boolean): Write[] {
  return [
    (tx) => revokeDevices(tx, request.tenant.id, userId),
    // Ends sign-ins in progress, which may rely on the removed factor.
    (tx) => endSignIns(tx, request.tenant.id, userId),
    ...(last ? [deleteRecoveryCodes(request, userId)] : []),
  ];
}

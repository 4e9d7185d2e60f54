import { z } from "zod";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { endSignIns } from "../../account/access-revocation.ts";
import { type Account, requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { deleteDevice } from "../../authenticator/devices.ts";
import { all, circumstance, holds, not } from "../../conditions/condition.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { authenticator } from "../../methods/authenticator/index.ts";
import { type RemovableMethod, removableMethods } from "../../methods/index.ts";
import { deleteRecoveryCodes, replaceRecoveryCodes } from "../../methods/recovery-code/recovery-codes.ts";
import { acceptsFactor, canUseFactor, isAccepted } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { deleteCredential } from "../../methods/webauthn-credentials.ts";
import type { RequestContext } from "../../runtime.ts";
import { revokeDevice, revokeDevices } from "../../sessions/trusted-devices.ts";
import type { Action, NoInput } from "../define.ts";
import { STAY } from "../names.ts";
import { go, reject, stay } from "../outcome.ts";
import { itemId } from "./choice.ts";
import { primaryAddressOf } from "./emails.ts";
import {
  hasOthers,
  keysOf,
  mayAddSecurityKey,
  mayHaveCodes,
  mayRemove,
  mayRemoveKey,
  mayRemovePhone,
} from "./owned-factors.ts";
import { owns, type ProfileView, profileAction, sensitiveAction } from "./profile-action.ts";
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
    when: all(canUseFactor(securityKey), mayAddSecurityKey),
    to: ["webauthn_credential_verification"],
    run: () => go("webauthn_credential_verification", { data: { credentialKind: "security_key" } }),
  }),
  security_key_delete: sensitiveAction({
    description: "Remove a security key.",
    costs: ["write", "mail"],
    input: (view) => withEndOfOthers(securityKeyInput, view),
    when: mayRemoveKey,
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
          requireAccount(request, userId, (current) => holds(mayRemoveKey, { account: current, config })),
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
    when: mayRemovePhone,
    to: [STAY],
    errors: ["not_found"],
    run(context, { authenticator_id, end_other_sessions }) {
      const { request, account, config } = context;
      const isOwn = (current: Account) =>
        current.belongings.phones.some(({ id }) => id === authenticator_id) &&
        holds(mayRemovePhone, { account: current, config });
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
    when: circumstance<ProfileView>(
      "trusted_browsers",
      ({ account }) => account.belongings.trustedBrowsers.length > 0,
      { holds: "the account has a trusted browser", fails: "the account has no trusted browser" },
    ),
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
    when: mayHaveCodes,
    to: [STAY],
    run({ request, account, config }) {
      const { id } = account.profile;
      const { codes, write } = replaceRecoveryCodes(request, id);
      return stay({
        once: { recovery_codes: codes },
        facts: { hasRecoveryCode: true },
        writes: [
          requireAccount(request, id, (current) => holds(mayHaveCodes, { account: current, config })),
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
      when: all(acceptsFactor(method), not(owns(method.fact))),
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
    when: mayRemove(method),
    to: [STAY],
    run(context, { end_other_sessions }) {
      const { request, account, config } = context;
      const { id } = account.profile;
      const last = !hasOthers(account, config, method.name);
      return stay({
        facts: { [method.fact]: false, ...(last ? { hasRecoveryCode: false } : {}) },
        writes: [
          requireAccount(request, id, (current) => holds(mayRemove(method), { account: current, config })),
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

/** Writes after the removal of a factor: revokes trusted devices and, with the last factor, recovery codes. */
function afterRemoval(request: RequestContext, userId: string, last: boolean): Write[] {
  return [
    (tx) => revokeDevices(tx, request.tenant.id, userId),
    // Ends sign-ins in progress, which may rely on the removed factor.
    (tx) => endSignIns(tx, request.tenant.id, userId),
    ...(last ? [deleteRecoveryCodes(request, userId)] : []),
  ];
}

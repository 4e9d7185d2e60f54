import { z } from "zod";
import { endSignIns } from "../../account/access-revocation.ts";
import { type Account, requireAccount } from "../../account/account.ts";
import { canStillSignIn } from "../../account/reachability.ts";
import { audit } from "../../audit/audit.ts";
import { all, any, circumstance } from "../../conditions/condition.ts";
import { capability, configured } from "../../conditions/leaves.ts";
import type { Config } from "../../config/schema.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { deleteCredential, renameCredential } from "../../methods/webauthn-credentials.ts";
import { STAY } from "../names.ts";
import { go, reject, stay } from "../outcome.ts";
import { itemId } from "./choice.ts";
import { primaryAddressOf } from "./emails.ts";
import { type Owned, profileAction, sensitiveAction } from "./profile-action.ts";
import { endOthersIf, withEndOfOthers } from "./sessions.ts";

/** Display name of a credential: one line. */
const credentialName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name))
  .meta({ preserve: true });

const passkeyInput = z.strictObject({ passkey_id: itemId() });

const passkeysOf = ({ profile }: Account) => profile.passkeys ?? [];

const credentialsOf = ({ profile }: Account) => [
  ...(profile.passkeys ?? []),
  ...(profile.security_keys ?? []),
];

/** Whether an account may have one more passkey. */
export const mayAddPasskey = all(
  configured("passkey.enabled"),
  circumstance<Owned>(
    "passkeys",
    ({ account, config }) => passkeysOf(account).length < config.passkey.limit,
    {
      holds: "the account has fewer passkeys than `passkey.limit`",
      fails: "the account has as many passkeys as `passkey.limit` allows",
    },
  ),
);

/** Whether a passkey may be deleted: not a required last one, nor the last login method. */
function mayDelete(account: Account, config: Config, passkey: string): boolean {
  const passkeys = passkeysOf(account);
  return (
    passkeys.some(({ id }) => id === passkey) &&
    (config.passkey.optional || passkeys.length > 1) &&
    canStillSignIn(account, config, { passkey })
  );
}

const hasRemovablePasskey = circumstance<Owned>(
  "removable_passkeys",
  ({ account, config }) => passkeysOf(account).some(({ id }) => mayDelete(account, config, id)),
  {
    holds: "a passkey can be removed",
    fails: "the account has no passkey that it could do without",
  },
);

const hasCredential = circumstance<Owned>("credentials", ({ account }) => credentialsOf(account).length > 0, {
  holds: "the account has a passkey or a security key",
  fails: "the account has neither a passkey nor a security key",
});

const hasSecurityKey = circumstance<Owned>(
  "security_keys",
  ({ account }) => (account.profile.security_keys ?? []).length > 0,
  { holds: "the account has a security key", fails: "the account has no security key" },
);

/** Profile actions on passkeys; renaming covers security keys too. */
export const credentialActions = {
  webauthn_credential_create: sensitiveAction({
    description: "Create a passkey.",
    costs: ["write"],
    when: all(capability("webauthn"), mayAddPasskey),
    to: ["webauthn_credential_verification"],
    run: () => go("webauthn_credential_verification", { data: { credentialKind: "passkey" } }),
  }),
  webauthn_credential_rename: profileAction({
    description: "Rename a passkey or a security key.",
    costs: ["write"],
    input: z.strictObject({ passkey_id: itemId(), passkey_name: credentialName }),
    when: hasCredential,
    to: [STAY],
    errors: ["not_found"],
    run({ request, account }, { passkey_id, passkey_name }) {
      if (!credentialsOf(account).some(({ id }) => id === passkey_id)) return reject("not_found");
      const { id: userId } = account.profile;
      return stay({
        writes: [
          renameCredential(request, userId, { id: passkey_id, name: passkey_name }),
          audit(request, "passkey_renamed", {}, userId),
        ],
      });
    },
  }),
  webauthn_credential_delete: sensitiveAction({
    description: "Remove a passkey.",
    costs: ["write", "mail"],
    input: (view) => withEndOfOthers(passkeyInput, view),
    // Published clients show the removal of security keys only if this is offered.
    when: any(hasRemovablePasskey, all(configured("passkey.enabled"), hasSecurityKey)),
    to: [STAY],
    errors: ["not_found"],
    run(context, { passkey_id, end_other_sessions }) {
      const { request, account, config } = context;
      if (!mayDelete(account, config, passkey_id)) return reject("not_found");
      const { id: userId } = account.profile;
      return stay({
        facts: { hasPasskey: passkeysOf(account).length > 1 },
        writes: [
          requireAccount(request, userId, (current) => mayDelete(current, config, passkey_id)),
          deleteCredential(request, userId, { id: passkey_id, mfaOnly: false }),
          (tx) => endSignIns(tx, request.tenant.id, userId),
          audit(request, "passkey_deleted", {}, userId),
          ...endOthersIf(end_other_sessions, context),
        ],
        jobs: securityNotice(request, "passkey_delete", primaryAddressOf(account)),
      });
    },
  }),
};

import type { Account } from "../../account/account.ts";
import { all, any, circumstance, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Config } from "../../config/schema.ts";
import { authenticator } from "../../methods/authenticator/index.ts";
import {
  type RemovableMethod,
  type SecondFactorMethod,
  type SingleMethod,
  secondFactors,
} from "../../methods/index.ts";
import { acceptsFactor, isAccepted } from "../../methods/second-factors.ts";
import { securityKey } from "../../methods/security-key/index.ts";
import { type Owned, owns } from "./profile-action.ts";

/** Which second factors an account has, and what its owner may do with them. */

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
export const keysOf = ({ profile }: Account) => profile.security_keys ?? [];

/** That accounts need a second factor. */
export const needsFactor = all(configured("mfa.enabled"), not(configured("mfa.optional")));

/** That the account has another second factor than one of this kind. */
export const hasOtherFactors = (removed: FactorName) =>
  circumstance<Owned>("other_second_factor", ({ account, config }) => hasOthers(account, config, removed), {
    holds: "the account has another second factor",
    fails: "it is the only second factor of the account, which needs one",
  });

/** Whether an account may have one more security key. */
export const mayAddSecurityKey = all(
  acceptsFactor(securityKey),
  circumstance<Owned>(
    "security_key_limit",
    ({ account, config }) => keysOf(account).length < config.mfa.security_keys.limit,
    {
      holds: "the account has fewer security keys than `mfa.security_keys.limit`",
      fails: "the account has as many security keys as `mfa.security_keys.limit` allows",
    },
  ),
);

/** A second factor may be removed, even while it is disabled; not if it is the last required one. */
export const mayRemove = ({ name, fact }: RemovableMethod) =>
  all(owns(fact), any(not(needsFactor), hasOtherFactors(name)));

export const mayRemoveKey = all(
  circumstance<Owned>("security_keys", ({ account }) => keysOf(account).length > 0, {
    holds: "the account has a security key",
    fails: "the account has no security key",
  }),
  any(not(needsFactor), hasOtherFactors("security_key")),
);

/** A phone may be removed, even one that is no second factor; not the last required factor. */
export const mayRemovePhone = all(
  circumstance<Owned>("phones", ({ account }) => account.belongings.phones.length > 0, {
    holds: "the account has an authenticator",
    fails: "the account has no authenticator",
  }),
  any(not(needsFactor), not(acceptsFactor(authenticator)), hasOtherFactors("authenticator")),
);

/**
 * The account may have recovery codes: only with a second factor. An authenticator (UAF) is registered by an
 * application, so its user gets the codes here.
 */
export const mayHaveCodes = all(
  configured("mfa.enabled"),
  configured("mfa.recovery_codes"),
  circumstance<Owned>(
    "second_factor",
    ({ account, config }) => Object.values(factorsOf(account, config)).some((count) => count > 0),
    {
      holds: "the account has an accepted second factor",
      fails: "the account has no accepted second factor",
    },
  ),
);

import type { Config } from "../config/schema.ts";
import { identifierFacts } from "../identity/identifiers.ts";
import { noMethods } from "../methods/index.ts";
import { canSignIn } from "../methods/ways-in.ts";
import type { Account } from "./account.ts";
import { providerName } from "./linked-identities.ts";

/** What is about to be removed from an account; passkey, email and identity by their ids. */
export interface Removal {
  passkey?: string;
  email?: string;
  identity?: string;
  password?: true;
  username?: true;
  phone?: true;
}

/**
 * Whether the account owner can still sign in after a removal.
 *
 * @param account its profile holds only what the configuration enables
 */
export function canStillSignIn(
  { profile, has, identities }: Account,
  config: Config,
  without: Removal,
): boolean {
  const isLeft = ({ id, provider }: (typeof identities)[number]) =>
    id !== without.identity && providerName(config, provider) !== null;
  const left = {
    ...noMethods,
    ...has,
    ...identifierFacts({
      email: profile.emails?.find(({ id }) => id !== without.email)?.address,
      username: without.username ? null : profile.username?.username,
      phone: without.phone ? null : profile.phone_number,
      phoneVerified: !without.phone && profile.phone_number_verified,
    }),
    hasPassword: has.hasPassword && !without.password,
    hasPasskey: profile.passkeys?.some(({ id }) => id !== without.passkey) === true,
    hasIdentity: identities.some(isLeft),
  };
  return canSignIn(left, config);
}

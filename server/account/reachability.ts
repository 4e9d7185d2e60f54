import type { Config } from "../config/schema.ts";
import type { Account } from "./account.ts";
import { providerName } from "./linked-identities.ts";

/** What is about to be removed from an account; passkey, email and identity by their ids. */
export interface Removal {
  passkey?: string;
  email?: string;
  identity?: string;
  password?: true;
  username?: true;
}

/**
 * Whether the account owner can still sign in after a removal. A passkey and an identity identify the account by
 * themselves; a password also needs a login identifier, a mailed code a login identifier and an address.
 *
 * @param account its profile holds only what the configuration enables
 */
export function canStillSignIn(
  { profile, hasPassword, identities }: Account,
  config: Config,
  without: Removal,
): boolean {
  const passkeys = (profile.passkeys ?? []).filter(({ id }) => id !== without.passkey);
  if (config.passkey.enabled && passkeys.length > 0) return true;
  if (identities.some(({ id, provider }) => id !== without.identity && providerName(config, provider))) {
    return true;
  }
  const { email, username, password } = config;
  const addresses = (profile.emails ?? []).filter(({ id }) => id !== without.email);
  const hasAddress = email.enabled && addresses.length > 0;
  const hasIdentifier =
    (hasAddress && email.use_as_login_identifier) ||
    (username.enabled && username.use_as_login_identifier && !!profile.username && !without.username);
  const byPassword = password.enabled && hasPassword && !without.password;
  return hasIdentifier && (byPassword || (hasAddress && email.use_for_authentication));
}

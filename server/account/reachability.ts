import type { Config } from "../config/schema.ts";
import type { Account } from "./account.ts";
import { providerName } from "./linked-identities.ts";

/** What is about to be taken from an account: one thing, or several. */
export interface Removal {
  /** Ids. */
  passkey?: string;
  email?: string;
  identity?: string;
  password?: true;
  username?: true;
}

/**
 * Whether the owner of an account can still sign in once something is gone. A passkey and an identity name their
 * owner themselves; a password needs a name that people may sign in by, a mailed code a name and an address.
 *
 * @param account as its owner manages it: what the configuration switches off is not part of its profile
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
  const addressed = email.enabled && addresses.length > 0;
  const named =
    (addressed && email.use_as_login_identifier) ||
    (username.enabled && username.use_as_login_identifier && !!profile.username && !without.username);
  const byPassword = password.enabled && hasPassword && !without.password;
  return named && (byPassword || (addressed && email.use_for_authentication));
}

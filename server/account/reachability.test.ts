import { describe, expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { storedNothing } from "../testing/stored-nothing.ts";
import type { Account } from "./account.ts";
import { canStillSignIn, type Removal } from "./reachability.ts";

const moment = "2030-01-01T12:00:00.000Z";

/** Creates an account from the credentials and identifiers that it has. */
function account(has: {
  passkeys?: number;
  emails?: number;
  username?: true;
  password?: true;
  google?: true;
}) {
  const passkeys = Array.from({ length: has.passkeys ?? 0 }, (_, index) => ({
    id: `passkey-${index}`,
    public_key: "",
    attestation_type: "none",
    aaguid: "",
    created_at: moment,
    transports: [],
    backup_eligible: false,
    backup_state: false,
    mfa_only: false,
  }));
  const emails = Array.from({ length: has.emails ?? 0 }, (_, index) => ({
    id: `email-${index}`,
    address: `${index}@example.com`,
    is_verified: true,
    is_primary: index === 0,
  }));
  const made: Account = {
    profile: {
      id: "user",
      user_id: "user",
      passkeys,
      // Not sufficient to sign in.
      security_keys: [{ ...passkeys[0], id: "key", mfa_only: true } as (typeof passkeys)[number]],
      emails,
      mfa_config: { auth_app_set_up: true, totp_enabled: true, security_keys_enabled: true },
      ...(has.username
        ? { username: { id: "u", username: "ada", created_at: moment, updated_at: moment } }
        : {}),
      created_at: moment,
      updated_at: moment,
    },
    stored: storedNothing,
    has: { hasPassword: has.password === true, hasTotp: true },
    picture: null,
    identities: has.google ? [{ id: "google-0", provider: "google", subject: "1", email: null }] : [],
    sessions: [],
    sessionLocations: {},
    handles: {},
    credentialUses: {},
    belongings: { recoveryCodesLeft: 0, phones: [], trustedBrowsers: [], signIns: [], applications: [] },
  };
  return made;
}

const usernames = { STILE_USERNAME_ENABLED: "true" };
const noCodes = { STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" };
const google = {
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
};

type Case = [
  name: string,
  has: Parameters<typeof account>[0],
  without: Removal,
  settings: Record<string, string>,
  reachable: boolean,
];

const cases: Case[] = [
  ["returns false: an account without credentials", {}, {}, {}, false],
  ["returns true: one of two passkeys is removed", { passkeys: 2 }, { passkey: "passkey-0" }, {}, true],
  ["returns false: the only passkey is removed", { passkeys: 1 }, { passkey: "passkey-0" }, {}, false],
  ["returns false: passkeys are disabled", { passkeys: 1 }, {}, { STILE_PASSKEY_ENABLED: "false" }, false],
  [
    "returns true: the only passkey is removed, and codes are mailed",
    { passkeys: 1, emails: 1 },
    { passkey: "passkey-0" },
    {},
    true,
  ],
  ["returns false: an address, and codes are not mailed", { emails: 1 }, {}, noCodes, false],
  ["returns true: a password with an address", { emails: 1, password: true }, {}, noCodes, true],
  ["returns false: a password without an identifier", { password: true }, {}, noCodes, false],
  [
    "returns true: a password with a username, and the address is removed",
    { password: true, username: true, emails: 1 },
    { email: "email-0" },
    usernames,
    true,
  ],
  [
    "returns false: a password whose username is removed",
    { password: true, username: true },
    { username: true },
    usernames,
    false,
  ],
  [
    "returns false: a password with a username that is not a login identifier",
    { password: true, username: true },
    {},
    { ...usernames, STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false" },
    false,
  ],
  [
    "returns true: a username identifies the account, and a code is mailed to its address",
    { username: true, emails: 1 },
    {},
    { ...usernames, STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false" },
    true,
  ],
  [
    "returns false: a username, and the address for codes is removed",
    { username: true, emails: 1 },
    { email: "email-0" },
    { ...usernames, STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false" },
    false,
  ],
  ["returns true: one of two addresses is removed", { emails: 2 }, { email: "email-1" }, {}, true],
  [
    "returns false: the only address is removed",
    { emails: 1, password: true },
    { email: "email-0" },
    {},
    false,
  ],
  [
    "returns true: the password is removed, and codes are mailed",
    { emails: 1, password: true },
    { password: true },
    {},
    true,
  ],
  [
    "returns false: the password is removed, and codes are not mailed",
    { emails: 1, password: true },
    { password: true },
    noCodes,
    false,
  ],
  [
    "returns false: passwords are disabled",
    { emails: 1, password: true },
    {},
    { ...noCodes, STILE_PASSWORD_ENABLED: "false" },
    false,
  ],
  ["returns true: an identity", { google: true }, {}, google, true],
  ["returns false: an identity of a disabled provider", { google: true }, {}, {}, false],
  ["returns false: the only identity is removed", { google: true }, { identity: "google-0" }, google, false],
  [
    "returns true: the passkey is removed beside an identity",
    { google: true, passkeys: 1 },
    { passkey: "passkey-0" },
    google,
    true,
  ],
];

describe("canStillSignIn", () => {
  it.each(cases)("%s", (_, has, without, settings, reachable) => {
    expect(canStillSignIn(account(has), loadConfig(settings, "/nowhere"), without)).toBe(reachable);
  });
});

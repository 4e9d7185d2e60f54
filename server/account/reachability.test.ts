import { describe, expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { Account } from "./account.ts";
import { canStillSignIn, type Removal } from "./reachability.ts";

const moment = "2030-01-01T12:00:00.000Z";

/** An account, written down as the ways in that it has. */
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
      id: "somebody",
      user_id: "somebody",
      passkeys,
      // No way in by themselves.
      security_keys: [{ ...passkeys[0], id: "key", mfa_only: true } as (typeof passkeys)[number]],
      emails,
      mfa_config: { auth_app_set_up: true, totp_enabled: true, security_keys_enabled: true },
      ...(has.username
        ? { username: { id: "u", username: "ada", created_at: moment, updated_at: moment } }
        : {}),
      created_at: moment,
      updated_at: moment,
    },
    hasPassword: has.password === true,
    identities: has.google ? [{ id: "google-0", provider: "google", subject: "1", email: null }] : [],
    sessions: [],
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
  ["nothing is no way in", {}, {}, {}, false],
  ["one of two passkeys can go", { passkeys: 2 }, { passkey: "passkey-0" }, {}, true],
  ["the only passkey cannot", { passkeys: 1 }, { passkey: "passkey-0" }, {}, false],
  [
    "a passkey is none where passkeys are off",
    { passkeys: 1 },
    {},
    { STILE_PASSKEY_ENABLED: "false" },
    false,
  ],
  ["a mailed code takes its place", { passkeys: 1, emails: 1 }, { passkey: "passkey-0" }, {}, true],
  ["an address is no way in without codes", { emails: 1 }, {}, noCodes, false],
  ["a password with an address is one", { emails: 1, password: true }, {}, noCodes, true],
  ["a password without a name is none", { password: true }, {}, noCodes, false],
  [
    "a password with a username is one",
    { password: true, username: true, emails: 1 },
    { email: "email-0" },
    usernames,
    true,
  ],
  [
    "and without that username it is none",
    { password: true, username: true },
    { username: true },
    usernames,
    false,
  ],
  [
    "a username that nobody may sign in by does not count",
    { password: true, username: true },
    {},
    { ...usernames, STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "false" },
    false,
  ],
  [
    "a code goes to the address of whoever names themselves by a username",
    { username: true, emails: 1 },
    {},
    { ...usernames, STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false" },
    true,
  ],
  [
    "and there is none without an address",
    { username: true, emails: 1 },
    { email: "email-0" },
    { ...usernames, STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false" },
    false,
  ],
  ["one of two addresses can go", { emails: 2 }, { email: "email-1" }, {}, true],
  ["the only address cannot", { emails: 1, password: true }, { email: "email-0" }, {}, false],
  ["a password can go where codes are mailed", { emails: 1, password: true }, { password: true }, {}, true],
  ["and cannot where they are not", { emails: 1, password: true }, { password: true }, noCodes, false],
  [
    "passwords that are off do not count",
    { emails: 1, password: true },
    {},
    { ...noCodes, STILE_PASSWORD_ENABLED: "false" },
    false,
  ],
  ["an identity is a way in", { google: true }, {}, google, true],
  ["and not while its provider is off", { google: true }, {}, {}, false],
  ["the only identity cannot go", { google: true }, { identity: "google-0" }, google, false],
  ["all else can go before it", { google: true, passkeys: 1 }, { passkey: "passkey-0" }, google, true],
];

describe("whoever takes something from their account can still sign in", () => {
  it.each(cases)("%s", (_, has, without, settings, reachable) => {
    expect(canStillSignIn(account(has), loadConfig(settings, "/nowhere"), without)).toBe(reachable);
  });
});

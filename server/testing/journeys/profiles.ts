import type { State } from "../flow-client.ts";
import {
  type Act,
  type Acts,
  always,
  atState,
  capable,
  complete,
  type Journey,
  newAddress,
  type Prepare,
  withCode,
} from "./journey.ts";
import { byPassword, enterPassword, usePasskey } from "./logins.ts";
import { goToProvider, reauthenticateAtProvider, signedInThroughProvider } from "./provider-sign-ins.ts";
import { createPasskey, createTotp, registered, registration, signedUp } from "./registrations.ts";
import { answerTotp } from "./second-factor-logins.ts";

interface ProfilePayload {
  emails?: { address: string }[];
  passkeys?: unknown[];
  security_keys?: unknown[];
}

const accountIn = ({ payload }: State) => payload.user as ProfilePayload;

const addAddress: Act = async ({ person }) => {
  person.addedEmail ??= newAddress();
  return ["email_create", { email: person.addedEmail }];
};

/** The account page shows the address. */
const hasAddedAddress: Journey["end"] = (state, { addedEmail }) =>
  state.name === "profile_init" &&
  (accountIn(state).emails ?? []).some(({ address }) => address === addedEmail);

const hasPasskey: Journey["end"] = (state) =>
  state.name === "profile_init" && (accountIn(state).passkeys ?? []).length > 0;

const addPasskey: Acts = {
  profile_init: always("webauthn_credential_create"),
  webauthn_credential_verification: createPasskey.onboarding_verify_passkey_attestation,
};

export const signedIn: Prepare = async (start) => {
  await registered(registration)(start);
  await complete(byPassword, start);
};

/** The session is an hour old: changes of credentials need a new authentication. */
const anHourAgo =
  (prepare: Prepare): Prepare =>
  async (start) => {
    await prepare(start);
    await start.fixtures.query(
      `update sessions s set authenticated_at = now() - interval '1 hour' from emails e
       where e.tenant_id = s.tenant_id and e.user_id = s.user_id and e.address = $1`,
      [start.person.email],
    );
  };

/**
 * After a re-authentication this version performs the action that required it. The former release shows the account, and
 * the user acts again: so `profile_init` may be met twice.
 */
const reauthentications: Journey[] = [
  {
    name: "another address after a re-authentication by a password",
    type: "profile",
    acts: {
      preflight: capable,
      profile_init: addAddress,
      login_method_chooser: always("continue_to_password_login"),
      login_password: enterPassword,
      passcode_confirmation: withCode,
    },
    end: hasAddedAddress,
    prepare: anHourAgo(signedUp(registration)),
  },
  {
    name: "a passkey after a re-authentication by a mailed code",
    type: "profile",
    acts: {
      ...addPasskey,
      preflight: capable,
      login_method_chooser: always("continue_to_passcode_confirmation"),
      passcode_confirmation: withCode,
    },
    end: hasPasskey,
    prepare: anHourAgo(signedUp(registration)),
  },
  {
    name: "another address after a re-authentication by a passkey",
    type: "profile",
    acts: {
      preflight: capable,
      profile_init: addAddress,
      login_method_chooser: always("webauthn_generate_request_options"),
      login_passkey: usePasskey,
      passcode_confirmation: withCode,
    },
    end: hasAddedAddress,
    prepare: anHourAgo(signedUp({ ...registration, ...createPasskey, preflight: capable })),
  },
  {
    name: "a deletion after a re-authentication by a password and an authenticator app",
    type: "profile",
    acts: {
      preflight: capable,
      profile_init: always("account_delete"),
      login_method_chooser: always("continue_to_password_login"),
      login_password: enterPassword,
      login_otp: answerTotp(),
    },
    end: atState("account_deleted"),
    prepare: anHourAgo(signedUp({ ...registration, ...createTotp })),
  },
  {
    name: "another address after a re-authentication by a provider",
    type: "profile",
    acts: {
      preflight: capable,
      profile_init: addAddress,
      login_method_chooser: goToProvider,
      thirdparty: reauthenticateAtProvider,
      passcode_confirmation: withCode,
    },
    end: hasAddedAddress,
    prepare: anHourAgo(signedInThroughProvider),
  },
];

export const profiles: Journey[] = [
  {
    name: "another address on the account page",
    type: "profile",
    acts: { preflight: capable, profile_init: addAddress, passcode_confirmation: withCode },
    end: hasAddedAddress,
    prepare: signedIn,
  },
  {
    name: "a passkey on the account page",
    type: "profile",
    acts: { ...addPasskey, preflight: capable },
    end: hasPasskey,
    prepare: signedIn,
  },
  {
    name: "a deletion of the account",
    type: "profile",
    acts: { preflight: capable, profile_init: always("account_delete") },
    end: atState("account_deleted"),
    prepare: signedIn,
  },
  ...reauthentications,
];

import { randomUUID } from "node:crypto";
import {
  type Act,
  type Acts,
  always,
  atState,
  capable,
  incapable,
  type Journey,
  withCode,
} from "./journey.ts";
import { createPasskey, password, registered, registration } from "./registrations.ts";

const identify: Act = async ({ person }) => ["continue_with_login_identifier", { email: person.email }];

export const enterPassword = always("password_login", { password });

export const usePasskey: Act = async ({ state, person, fixtures: { origin } }) => [
  "webauthn_verify_assertion_response",
  { assertion_response: person.passkeys.get(state.payload.request_options, { origin }) },
];

/** A login by a password, and what it may meet on its way. */
export const login: Acts = {
  preflight: incapable,
  login_init: identify,
  login_method_chooser: always("continue_to_password_login"),
  login_password: enterPassword,
  onboarding_username: always("skip"),
  device_trust: always("trust_device"),
};

export const chooseUsername = {
  onboarding_username: async () => [
    "username_set",
    { username: `u${randomUUID().replaceAll("-", "").slice(0, 20)}` },
  ],
} satisfies Acts;

/** The same by a mailed code. */
export const loginByCode: Acts = {
  ...login,
  login_method_chooser: always("continue_to_passcode_confirmation"),
  passcode_confirmation: withCode,
};

export const byPassword: Journey = {
  name: "a login by a password",
  type: "login",
  acts: login,
  end: atState("success"),
  prepare: registered(registration),
};

export const logins: Journey[] = [
  byPassword,
  {
    name: "a login by a mailed code",
    type: "login",
    acts: loginByCode,
    end: atState("success"),
    prepare: registered(registration),
  },
  {
    name: "a forgotten password",
    type: "login",
    acts: {
      ...login,
      login_password: always("continue_to_passcode_confirmation_recovery"),
      passcode_confirmation: withCode,
      login_password_recovery: always("password_recovery", { new_password: "eight herons over the lake" }),
    },
    end: atState("success"),
    prepare: registered(registration),
  },
  {
    name: "a login that asks for a username",
    type: "login",
    acts: {
      ...login,
      ...chooseUsername,
    },
    end: atState("success"),
    prepare: registered(registration),
  },
  {
    name: "a login by a passkey",
    type: "login",
    acts: {
      ...login,
      preflight: capable,
      login_init: always("webauthn_generate_request_options"),
      login_passkey: usePasskey,
    },
    end: atState("success"),
    prepare: registered({ ...registration, ...createPasskey, preflight: capable }),
  },
];

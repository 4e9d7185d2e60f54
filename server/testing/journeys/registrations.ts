import { setTimeout as wait } from "node:timers/promises";
import { authenticatorApp } from "../authenticator-app.ts";
import { flowClient } from "../flow-client.ts";
import {
  type Acts,
  always,
  atState,
  capable,
  complete,
  incapable,
  type Journey,
  type Prepare,
  withCode,
} from "./journey.ts";

export const password = "seven herons over the lake";

export const setPassword = always("register_password", { new_password: password });

export const registration: Acts = {
  preflight: incapable,
  registration_init: async ({ person }) => ["register_login_identifier", { email: person.email }],
  passcode_confirmation: withCode,
  password_creation: setPassword,
  mfa_method_chooser: always("skip"),
};

export const createPasskey = {
  onboarding_create_passkey: always("webauthn_generate_creation_options"),
  onboarding_verify_passkey_attestation: async ({ state, person, fixtures: { origin } }) => [
    "webauthn_verify_attestation_response",
    { public_key: person.passkeys.create(state.payload.creation_options, { origin }) },
  ],
} satisfies Acts;

const TIME_STEP_MS = 30_000;
/** A timer may end before the clock has reached its time. */
const EARLY_TIMER_MS = 100;

/** The code of the step before is refused once the present one has ended: waits for the next one if that is near. */
export async function timeLeftInStep(): Promise<void> {
  const left = TIME_STEP_MS - (Date.now() % TIME_STEP_MS);
  if (left < 6_000) await wait(left + EARLY_TIMER_MS);
}

export const createTotp: Acts = {
  mfa_method_chooser: always("continue_to_otp_secret_creation"),
  mfa_otp_secret_creation: async ({ state, person }) => {
    person.totpSecret = String(state.payload.otp_secret);
    await timeLeftInStep();
    // That of the step before, so that a later sign-in may use the present one.
    return ["otp_code_verify", { otp_code: authenticatorApp(person.totpSecret).code(Date.now(), -1) }];
  },
};

export const createSecurityKey: Acts = {
  mfa_method_chooser: always("continue_to_security_key_creation"),
  mfa_security_key_creation: always("webauthn_generate_creation_options"),
  onboarding_verify_passkey_attestation: async ({ state, person, fixtures: { origin } }) => [
    "webauthn_verify_attestation_response",
    { public_key: person.securityKey.create(state.payload.creation_options, { origin }) },
  ],
};

/** Registers the person in a browser of its own. */
export const registered =
  (acts: Acts): Prepare =>
  ({ server, ...start }) =>
    register(acts, { ...start, client: flowClient(server.url) });

/** Registers the person in the browser of the walk, which is signed in then. */
export const signedUp =
  (acts: Acts): Prepare =>
  (start) =>
    register(acts, start);

async function register(acts: Acts, on: Omit<Parameters<Prepare>[0], "server">): Promise<void> {
  await complete({ name: "registration", type: "registration", acts, end: atState("success") }, on);
  on.person.recoveryCodes = on.client.state.payload.recovery_codes as string[];
}

export const registrations: Journey[] = [
  { name: "a registration by a password", type: "registration", acts: registration, end: atState("success") },
  {
    name: "a registration with a passkey and an authenticator app",
    type: "registration",
    acts: { ...registration, ...createPasskey, ...createTotp, preflight: capable },
    end: atState("success"),
  },
  {
    name: "a registration with a security key",
    type: "registration",
    acts: {
      ...registration,
      ...createSecurityKey,
      preflight: capable,
      onboarding_create_passkey: always("skip"),
    },
    end: atState("success"),
  },
];

import type { FlowType, StateName } from "./names.ts";
import { enrolmentOwed, mayAddCredential, secondFactorOwed, trustOwed } from "./second-factor.ts";
import type { Situation } from "./situation.ts";

/**
 * What is still owed, as one ordered list. It ends at `success`, at the account of who is signed in, or at the state
 * where the person says who they are, since nothing can be known beyond that. It is made anew at every step; its
 * head is the next state.
 */
export function plan(situation: Situation): StateName[] {
  return plans[situation.type](situation);
}

const plans = {
  login: (situation) => {
    const { data } = situation;
    if (!data.answered.includes("preflight")) return ["preflight", "login_init"];
    return data.factors.length === 0 ? ["login_init"] : signedIn(situation);
  },
  registration: (situation) => {
    const { data } = situation;
    if (!data.answered.includes("preflight")) return ["preflight", "registration_init"];
    if (data.signedUp) return signedIn(situation);
    if (!data.userId) return ["registration_init"];
    const rest = [...stepIf("passcode_confirmation", isUnproved(situation)), ...credentialsOwed(situation)];
    return [...withEnrolment(situation, rest), "success"];
  },
  profile: (situation) => {
    const { data } = situation;
    if (!data.answered.includes("preflight")) return ["preflight", "profile_init"];
    const proving = data.steppingUp === true && data.factors.length > 0;
    return [...(proving ? secondFactorOwed(situation) : []), "profile_init"];
  },
  token_exchange: (situation) => (situation.data.factors.length === 0 ? ["thirdparty"] : signedIn(situation)),
} satisfies Record<FlowType, (situation: Situation) => StateName[]>;

const afterFirstFactor = [
  "login_security_key",
  "login_authenticator",
  "login_otp",
  "login_password_recovery",
  "passcode_confirmation",
  "onboarding_username",
  "onboarding_email",
  "mfa_method_chooser",
] as const;

const credentials = [
  "credential_onboarding_chooser",
  "onboarding_create_passkey",
  "password_creation",
] as const;

/** Every state that the plan of a flow type may name. */
export const planned = {
  login: ["preflight", "login_init", ...afterFirstFactor, ...credentials, "device_trust", "success"],
  registration: [
    "preflight",
    "registration_init",
    ...afterFirstFactor.filter((state) => state !== "login_password_recovery"),
    ...credentials,
    "device_trust",
    "success",
  ],
  profile: ["preflight", "profile_init", "login_security_key", "login_authenticator", "login_otp"],
  token_exchange: [
    "thirdparty",
    ...afterFirstFactor.filter((state) => state !== "login_password_recovery"),
    "device_trust",
    "success",
  ],
} as const satisfies Record<FlowType, readonly StateName[]>;

/** What is owed once a first factor, or a third party, has said whose account this is. */
function signedIn(situation: Situation): StateName[] {
  const { data, facts, config } = situation;
  const { email, username } = config;
  const answered = (state: StateName) => data.answered.includes(state);
  const when = data.signedUp === "created" ? "acquire_on_registration" : "acquire_on_login";
  // Whoever comes by a third party keeps coming by it.
  const byThirdParty = situation.type === "token_exchange" || data.factors[0]?.method === "third_party";
  const rest = [
    ...stepIf("login_password_recovery", situation.type === "login" && data.recovering === true),
    ...stepIf("passcode_confirmation", data.passcode?.purpose === "email_verification"),
    ...stepIf(
      "onboarding_username",
      username.enabled && username[when] && !facts.username && !answered("onboarding_username"),
    ),
    ...stepIf(
      "onboarding_email",
      email.enabled &&
        email[when] &&
        !facts.email &&
        data.passcode?.purpose !== "email_verification" &&
        !answered("onboarding_email"),
    ),
    ...(byThirdParty ? [] : credentialsOwed(situation)),
  ];
  return [
    ...secondFactorOwed(situation),
    ...withEnrolment(situation, rest),
    ...stepIf("device_trust", trustOwed(situation) && !answered("device_trust")),
    "success",
  ];
}

/** The address of a registration that has to be proved first. */
function isUnproved({ data, config }: Situation): boolean {
  return data.email !== undefined && config.email.require_verification && !data.emailVerified;
}

/** Puts the set-up of a second factor where it belongs: once it is known who this is and how they come in. */
function withEnrolment(situation: Situation, rest: StateName[]): StateName[] {
  if (!enrolmentOwed(situation)) return rest;
  const first: StateName[] = ["passcode_confirmation", "login_password_recovery", "password_creation"];
  const position = rest.findLastIndex((state) => first.includes(state)) + 1;
  return [...rest.slice(0, position), "mfa_method_chooser", ...rest.slice(position)];
}

/**
 * Which credentials to ask for. `always` wants one that is missing; `conditional` wants one while there is neither
 * a passkey nor a password. When either would do, the person chooses.
 */
function credentialsOwed({ type, data, facts, config }: Situation): StateName[] {
  const { passkey, password } = config;
  const when = type === "registration" ? "acquire_on_registration" : "acquire_on_login";
  const answered = (state: StateName) => data.answered.includes(state);
  const usable = {
    passkey: passkey.enabled && data.capabilities?.webauthn === true,
    password: password.enabled,
  };
  const policy = {
    passkey: usable.passkey ? passkey[when] : "never",
    // Whoever recovers a password is about to have one.
    password: usable.password && !data.recovering ? password[when] : "never",
  };
  const has = { passkey: usable.passkey && facts.hasPasskey, password: usable.password && facts.hasPassword };
  const neither = !has.passkey && !has.password;
  const wants = (kind: "passkey" | "password") =>
    policy[kind] === "always" ? !has[kind] : policy[kind] === "conditional" && neither;
  const wantsPasskey =
    wants("passkey") && !answered("onboarding_create_passkey") && mayAddCredential({ data, facts, config });
  const wantsPassword = wants("password") && !answered("password_creation");
  const eitherWillDo = policy.passkey === "conditional" && policy.password === "conditional";
  if (eitherWillDo && answered("credential_onboarding_chooser")) return [];
  if (!wantsPasskey || !wantsPassword) {
    return [
      ...stepIf("onboarding_create_passkey", wantsPasskey),
      ...stepIf("password_creation", wantsPassword),
    ];
  }
  if (eitherWillDo) return ["credential_onboarding_chooser"];
  // The one that is only conditional is asked for when the other was skipped.
  if (policy.password === "conditional") return ["onboarding_create_passkey"];
  if (policy.passkey === "conditional") return ["password_creation"];
  return !password.optional && passkey.optional
    ? ["password_creation", "onboarding_create_passkey"]
    : ["onboarding_create_passkey", "password_creation"];
}

function stepIf(state: StateName, condition: boolean): StateName[] {
  return condition ? [state] : [];
}

/**
 * Whether `state` may be skipped without locking the person out: it is what the plan asks for, and they will have a
 * way in without it.
 */
export function skippable(situation: Situation, state: StateName): boolean {
  // Whoever is here has shown a second factor, or is saved it by a trusted browser, which guards are not told of.
  const facts = { ...situation.facts, deviceTrusted: true };
  if (plan({ ...situation, facts })[0] !== state) return false;
  const { data } = situation;
  return willBeAbleToSignIn({ ...situation, data: { ...data, answered: [...data.answered, state] } });
}

/** Whether whoever does what the plan still asks for will be able to sign in again. */
export function willBeAbleToSignIn(situation: Situation): boolean {
  const { facts } = situation;
  const asked = plan(situation);
  const chooses = asked.includes("credential_onboarding_chooser");
  return canSignIn({
    ...situation,
    facts: {
      ...facts,
      hasPasskey: facts.hasPasskey || chooses || asked.includes("onboarding_create_passkey"),
      hasPassword: facts.hasPassword || chooses || asked.includes("password_creation"),
    },
  });
}

/** Passkeys and third parties name their owner; passwords and mailed codes need a name that people may sign in by. */
function canSignIn({ facts, config }: Situation): boolean {
  const { email, username, password, passkey } = config;
  if ((passkey.enabled && facts.hasPasskey) || facts.hasIdentity) return true;
  const named =
    (email.enabled && email.use_as_login_identifier && facts.email !== null) ||
    (username.enabled && username.use_as_login_identifier && facts.username !== null);
  const byMail = email.enabled && email.use_for_authentication && facts.email !== null;
  return named && (byMail || (password.enabled && facts.hasPassword));
}

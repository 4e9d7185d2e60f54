import type { Config } from "../config.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { FlowType, StateName } from "./names.ts";

/** What the plan looks at. */
export interface Situation {
  type: FlowType;
  data: FlowData;
  facts: Facts;
  config: Config;
}

/**
 * What is still owed, as one ordered list. It ends at `success`, or at the state where the person says who they
 * are, since nothing can be known beyond that. It is made anew at every step; its head is the next state.
 */
export function plan(situation: Situation): StateName[] {
  return plans[situation.type](situation);
}

const plans = {
  login: (situation) => {
    const { data, facts, config } = situation;
    const { email, username } = config;
    const answered = (state: StateName) => data.answered.includes(state);
    if (!answered("preflight")) return ["preflight", "login_init"];
    if (data.factors.length === 0) return ["login_init"];
    return [
      ...owed("login_password_recovery", data.recovering === true),
      ...owed(
        "onboarding_username",
        username.enabled && username.acquire_on_login && !facts.username && !answered("onboarding_username"),
      ),
      ...owed(
        "onboarding_email",
        email.enabled && email.acquire_on_login && !facts.email && !answered("onboarding_email"),
      ),
      ...credentialsOwed(situation),
      "success",
    ];
  },
  registration: (situation) => {
    const { data, config } = situation;
    if (!data.answered.includes("preflight")) return ["preflight", "registration_init"];
    if (!data.userId) return ["registration_init"];
    const unproved = data.email !== undefined && config.email.require_verification && !data.emailVerified;
    return [...owed("passcode_confirmation", unproved), ...credentialsOwed(situation), "success"];
  },
} satisfies Record<FlowType, (situation: Situation) => StateName[]>;

/** Every state that the plan of a flow type may name. */
export const planned = {
  login: [
    "preflight",
    "login_init",
    "login_password_recovery",
    "onboarding_username",
    "onboarding_email",
    "credential_onboarding_chooser",
    "onboarding_create_passkey",
    "password_creation",
    "success",
  ],
  registration: [
    "preflight",
    "registration_init",
    "passcode_confirmation",
    "credential_onboarding_chooser",
    "onboarding_create_passkey",
    "password_creation",
    "success",
  ],
} as const satisfies Record<FlowType, readonly StateName[]>;

/**
 * Which credentials to ask for. `always` wants one that is missing; `conditional` wants one while there is neither
 * a passkey nor a password. When either would do, the person chooses.
 */
function credentialsOwed({ type, data, facts, config }: Situation): StateName[] {
  const { passkey, password } = config;
  const when = type === "login" ? "acquire_on_login" : "acquire_on_registration";
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
  const wantsPasskey = wants("passkey") && !answered("onboarding_create_passkey");
  const wantsPassword = wants("password") && !answered("password_creation");
  const eitherWillDo = policy.passkey === "conditional" && policy.password === "conditional";
  if (eitherWillDo && answered("credential_onboarding_chooser")) return [];
  if (!wantsPasskey || !wantsPassword) {
    return [...owed("onboarding_create_passkey", wantsPasskey), ...owed("password_creation", wantsPassword)];
  }
  if (eitherWillDo) return ["credential_onboarding_chooser"];
  // The one that is only conditional is asked for when the other was skipped.
  if (policy.password === "conditional") return ["onboarding_create_passkey"];
  if (policy.passkey === "conditional") return ["password_creation"];
  return !password.optional && passkey.optional
    ? ["password_creation", "onboarding_create_passkey"]
    : ["onboarding_create_passkey", "password_creation"];
}

function owed(state: StateName, condition: boolean): StateName[] {
  return condition ? [state] : [];
}

/**
 * Whether `state` may be skipped without locking the person out: it is what the plan asks for, and they will have a
 * way in without it.
 */
export function skippable(situation: Situation, state: StateName): boolean {
  if (plan(situation)[0] !== state) return false;
  const { data } = situation;
  return leadsIn({ ...situation, data: { ...data, answered: [...data.answered, state] } });
}

/** Whether whoever does what the plan still asks for will be able to sign in again. */
export function leadsIn(situation: Situation): boolean {
  const { facts } = situation;
  const asked = plan(situation);
  const chooses = asked.includes("credential_onboarding_chooser");
  return hasWayIn({
    ...situation,
    facts: {
      ...facts,
      hasPasskey: facts.hasPasskey || chooses || asked.includes("onboarding_create_passkey"),
      hasPassword: facts.hasPassword || chooses || asked.includes("password_creation"),
    },
  });
}

/** A passkey names its owner; passwords and mailed codes need a name that people may sign in by. */
function hasWayIn({ facts, config }: Situation): boolean {
  const { email, username, password, passkey } = config;
  if (passkey.enabled && facts.hasPasskey) return true;
  const named =
    (email.enabled && email.use_as_login_identifier && facts.email !== null) ||
    (username.enabled && username.use_as_login_identifier && facts.username !== null);
  const byMail = email.enabled && email.use_for_authentication && facts.email !== null;
  return named && (byMail || (password.enabled && facts.hasPassword));
}

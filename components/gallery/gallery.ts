import type { FlowType } from "#server/flow/names";
import type { FlowLink, FlowState, InputDescriptor } from "#server/flow/wire";
import type { ProviderReturn } from "../flow/provider-return.ts";
import { flowOf, tooFast, withRefusedInputs } from "./picture.ts";
import { type DrawnState, states } from "./states.ts";

/** One picture of the interface: a state, and what the page knows beside it. */
export interface Drawing {
  /** Unique, in `snake_case`: it begins with the name of the state. */
  name: string;
  flow: FlowType;
  state: FlowState;
  /** 0: the first HTML of a flow that is not started. */
  version: number;
  /** Where an application waits for the user. */
  redirectTo?: string;
  /** What an identity provider has returned. */
  providerReturn?: ProviderReturn;
  /** A step that is made once the state is drawn. */
  step?: DrawnStep;
  /** Whether everything that can be opened is open. */
  opened?: true;
}

/** A step of a drawing, and what follows: a state, an answer that is lost, or one that is under way. */
export interface DrawnStep {
  action: string;
  /** What is typed, by the names of the inputs. */
  input: Record<string, string>;
  answer: FlowState | "lost" | "under_way";
}

/** States that do not say whose account they are about. */
const withoutIdentifier = new Set([
  "preflight",
  "account_choice",
  "login_init",
  "registration_init",
  "profile_init",
  "account_deleted",
  "consent_answered",
  "success",
  "error",
  "verify_home_address",
  "thirdparty",
]);

const identifier = "ada@example.org";

function drawing(name: string, shown: FlowState, { step, ...more }: Partial<Drawing> = {}): Drawing {
  const state = withFacts(shown);
  // Only the account page asks for a proof of who its owner is.
  const flow = state.payload.wanted_action === undefined ? flowOf(state.name) : "profile";
  if (!step) return { name, flow, state, version: 7, ...more };
  const answer = typeof step.answer === "string" ? step.answer : withFacts(step.answer);
  return { name, flow, state, version: 7, ...more, step: { ...step, answer } };
}

/** Adds what the server tells with every state of its name. */
function withFacts(state: FlowState): FlowState {
  const payload: FlowState["payload"] = {
    ...(withoutIdentifier.has(state.name) ? {} : { identifier }),
    ...state.payload,
  };
  return { ...state, payload };
}

const links: FlowLink[] = [
  { name: "terms", href: "https://example.org/terms", category: "legal", target: "_blank" },
  { name: "privacy", href: "https://example.org/privacy", category: "legal", target: "_blank" },
  { name: "help", href: "https://example.org/help", category: "other", target: "_blank" },
];

/** What depends on more than the state: the browser's history, the connection, the application. */
const situations: Drawing[] = [
  drawing("login_init_not_started", states.login_init, { version: 0 }),
  drawing("registration_init_not_started", { ...states.registration_init, links }, { version: 0 }),
  drawing("login_init_back_from_a_provider", states.login_init_with_providers, {
    providerReturn: { error: "third_party_access_denied" },
  }),
  drawing("registration_init_with_links", { ...states.registration_init, links }),
  drawing("login_method_chooser_with_links", { ...states.login_method_chooser, links }),
  drawing("login_password_under_way", states.login_password, {
    step: { action: "password_login", input: { password: "four herons" }, answer: "under_way" },
  }),
  drawing("login_password_connection_lost", states.login_password, {
    step: { action: "password_login", input: { password: "four herons" }, answer: "lost" },
  }),
  drawing("login_password_connection_missing", states.login_password, {
    step: { action: "start_over", input: {}, answer: "lost" },
  }),
  drawing("passcode_confirmation_sent_again", states.passcode_confirmation, {
    step: { action: "resend_passcode", input: {}, answer: states.passcode_confirmation },
  }),
  drawing("success_returning", states.success, { redirectTo: "https://shop.example/checkout" }),
  drawing("login_otp_opened", states.login_otp, { opened: true }),
  drawing("login_security_key_opened", states.login_security_key, { opened: true }),
  drawing("login_authenticator_opened", states.login_authenticator, { opened: true }),
  drawing("profile_init_opened", states.profile_init, { opened: true }),
  drawing("profile_init_bare_opened", states.profile_init_bare, { opened: true }),
  drawing("profile_init_done", states.profile_init, {
    step: {
      action: "email_create",
      input: { email: "third@example.org" },
      answer: states.profile_init,
    },
  }),
];

const drawn = (Object.keys(states) as DrawnState[]).map((name) => drawing(name, states[name]));

/** For each state of which no drawing shows a refused input, or an error of the whole state, one that does. */
function refusals(): Drawing[] {
  const plain = drawn.filter(({ name, state }) => name === state.name);
  return plain.flatMap(({ state }) => {
    const shown = drawn.map((other) => other.state).filter(({ name }) => name === state.name);
    const refused = withRefusedInputs(state, codeOfField);
    const isRefused = shown.some((other) => inputsOf(other).some(({ error }) => error));
    const isFailed = shown.some(({ error }) => error && error.code !== refused.error?.code);
    return [
      ...(isRefused || !inputsOf(state).some(codeOfField) ? [] : [drawing(`${state.name}_refused`, refused)]),
      ...(isFailed || Object.keys(state.actions).length === 0
        ? []
        : [drawing(`${state.name}_too_fast`, tooFast(state, 42))]),
    ];
  });
}

const inputsOf = ({ actions }: FlowState) =>
  Object.values(actions).flatMap(({ inputs }) => Object.values(inputs));

/** The error at each field that the user types into. */
const codeOfField = ({ hidden, type }: InputDescriptor) =>
  hidden || type === "boolean" || type === "json" ? undefined : "value_invalid_error";

/**
 * Every picture of a flow: the states of `states.ts`, refusals of those that have none there, and situations. Tests,
 * screenshots and the page of themes draw these.
 */
export const gallery: readonly Drawing[] = [...drawn, ...refusals(), ...situations];

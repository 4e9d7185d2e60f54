import type { FlowState } from "#server/flow/wire";
import { browserCapabilities } from "./capabilities.ts";
import type { Attempts, BeginContext, Ceremony, CeremonyContext, Step } from "./ceremony.ts";
import { isText } from "./payload-readers.ts";
import { mayUse } from "./permissions.ts";
import { publicKeyOf } from "./webauthn-support.ts";

/** Aborts the prompt in progress; null before the first one. */
let abortPrompt: (() => void) | null = null;

/** Loads what prompts for a passkey. It is not loaded with the page: the form comes first. */
async function prompting<Prompts extends { abortPrompt(): void }>(
  loading: Promise<Prompts>,
  signal: AbortSignal,
): Promise<Prompts> {
  const prompts = await loading;
  signal.throwIfAborted();
  ({ abortPrompt } = prompts);
  return prompts;
}

async function assert(options: unknown, autofill: boolean, signal: AbortSignal): Promise<Step> {
  const prompts = await prompting(import("./passkey-assertion.ts"), signal);
  return prompts.assert(options, autofill, signal);
}

/** A login needs no creation. */
const creation: Ceremony = {
  action: "webauthn_verify_attestation_response",
  mode: "blocking",
  waiting: "prompt",
  needs: "creation_options",
  async perform(options, { attempts }, signal) {
    const { create, createSilently } = await prompting(import("./passkey-creation.ts"), signal);
    return attempts.silent ? createSilently(options, attempts, signal) : create(options, signal);
  },
};

/** State → ceremony. Apart from the words, the only place that names states. */
const ceremonies: Record<string, Ceremony> = {
  preflight: {
    action: "register_client_capabilities",
    mode: "blocking",
    waiting: "outline",
    automatic: true,
    perform: async () => ({
      action: "register_client_capabilities",
      input: { ...(await browserCapabilities()) },
    }),
  },
  login_init: {
    action: "webauthn_verify_assertion_response",
    mode: "background",
    needs: "request_options",
    replaces: "webauthn_generate_request_options",
    // The browser would refuse it in a frame.
    canBegin: () => mayUse("publickey-credentials-get"),
    perform: (options, _, signal) => assert(options, true, signal),
  },
  login_passkey: {
    action: "webauthn_verify_assertion_response",
    mode: "blocking",
    waiting: "prompt",
    needs: "request_options",
    perform: (options, _, signal) => assert(options, false, signal),
  },
  login_authenticator: {
    action: "authenticator_verify",
    mode: "background",
    needs: "events_href",
    canBegin: ({ state, attempts }) => maySubmitAnswer(state.payload.events_href, attempts),
    async perform(href, context, signal) {
      // Few states need it, so it is not loaded with the page.
      const { waitForAuthenticator } = await import("./authenticator-request.ts");
      await waitForAuthenticator(String(href), context, signal);
      return { action: "authenticator_verify", input: {} };
    },
  },
  onboarding_create_passkey: {
    action: "webauthn_generate_creation_options",
    mode: "background",
    automatic: true,
    canBegin: ({ state, attempts }) =>
      !attempts.tried &&
      Object.hasOwn(state.actions.webauthn_generate_creation_options?.inputs ?? {}, "conditional"),
    async perform(_, { attempts }) {
      attempts.tried = true;
      const { canCreateSilently } = await import("./passkey-creation.ts");
      attempts.silent = await canCreateSilently();
      return attempts.silent
        ? { action: "webauthn_generate_creation_options", input: { conditional: true } }
        : null;
    },
  },
  onboarding_verify_passkey_attestation: creation,
  webauthn_credential_verification: creation,
  thirdparty: {
    action: "exchange_token",
    mode: "blocking",
    waiting: "prompt",
    icon: "forward",
    canBegin: ({ state, providerReturn }) =>
      providerReturn !== null || isText(state.payload.redirect_url) || Object.hasOwn(state.actions, "back"),
    async perform(_, { state, providerReturn, userInitiated, leave }) {
      if (providerReturn && "token" in providerReturn)
        return { action: "exchange_token", input: { token: providerReturn.token } };
      if (providerReturn) return { action: "back", input: {}, notice: providerReturn.error };
      const destination = destinationOf(state, null);
      // The user has navigated back from the provider without an answer.
      if (!userInitiated || !destination) return { action: "back", input: {} };
      leave(destination.href);
      return null;
    },
  },
};

export function ceremonyOf(state: FlowState): Ceremony | null {
  const ceremony = Object.hasOwn(ceremonies, state.name) ? ceremonies[state.name] : undefined;
  return ceremony && Object.hasOwn(state.actions, ceremony.action) ? ceremony : null;
}

/**
 * The ceremony to begin in this state, and its options. A ceremony that was rejected is not repeated automatically:
 * a broken authenticator would be prompted for without end.
 *
 * @param requested whether the user asked for a retry
 */
export function ceremonyToBegin(
  context: CeremonyContext,
  requested: boolean,
): { ceremony: Ceremony; options: unknown } | null {
  const { state } = context;
  const ceremony = ceremonyOf(state);
  if (!ceremony) return null;
  const options = ceremony.needs ? state.payload[ceremony.needs] : null;
  if (options === undefined) return null;
  if (ceremony.mode === "blocking" && state.error && !requested) return null;
  return (ceremony.canBegin?.(context) ?? true) ? { ceremony, options } : null;
}

/** Whether the user can retry the ceremony of a state that shows an error. */
export function canRetry(context: BeginContext): boolean {
  const ceremony = ceremonyOf(context.state);
  return (
    context.state.error !== undefined &&
    ceremony?.mode === "blocking" &&
    (ceremony.canBegin?.(context) ?? true)
  );
}

/** Whether the options of the state's ceremony must be requested: a rejected attempt leaves none. */
export function lacksOptions(state: FlowState): boolean {
  const needs = ceremonyOf(state)?.needs;
  return needs !== undefined && state.payload[needs] === undefined;
}

/** Whether an action only asks the server for the options that the state has already, so that `prompt` takes its place. */
export function isReplaced(state: FlowState, action: string): boolean {
  const ceremony = ceremonyOf(state);
  return ceremony?.replaces === action && !lacksOptions(state) && mayUse("publickey-credentials-get");
}

/** Prompts for a passkey with the options of the state. */
export function prompt({ payload }: FlowState, signal: AbortSignal): Promise<Step> {
  return assert(payload.request_options, false, signal);
}

/** Aborts the request in progress of any component in this page. */
export function abortCeremony(): void {
  abortPrompt?.();
}

/**
 * Milliseconds until the challenge in a payload should be renewed, shortly before it expires (WebAuthn Level 3,
 * 5.5, `timeout`). Null without a challenge.
 */
export function renewalDelay(options: unknown): number | null {
  const { timeout } = publicKeyOf<{ timeout?: unknown }>(options);
  return typeof timeout === "number" && timeout > 0 ? Math.max(timeout * 0.9, 5000) : null;
}

/** The address that the state or answer redirects to, http and https only; null without a redirect. */
export function destinationOf(state: FlowState, redirectTo: string | null): URL | null {
  const target = redirectTo ?? state.payload.redirect_url;
  if (typeof target !== "string" || !URL.canParse(target)) return null;
  const url = new URL(target);
  return url.protocol === "https:" || url.protocol === "http:" ? url : null;
}

/**
 * Submissions of one answer of an authenticator. A step can be lost or conflict with another tab; a server that keeps
 * rejecting it is not asked again.
 */
const MAX_SUBMISSIONS = 3;

/** Whether to wait for the answer of an authenticator and to submit it. */
function maySubmitAnswer(href: unknown, { submitted }: Pick<Attempts, "submitted">): href is string {
  return isText(href) && (submitted?.href !== href || submitted.times < MAX_SUBMISSIONS);
}

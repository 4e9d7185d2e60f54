import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  getBrowserCapabilities,
  platformAuthenticatorIsAvailable,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from "@simplewebauthn/browser";
import type { FlowState } from "#server/flow/wire";
import { mayBring, waitForAuthenticator } from "./authenticator-request.ts";
import type { Attempts, Ceremony, CeremonyContext, Step } from "./ceremony.ts";
import { isText } from "./payload-readers.ts";

const creation: Ceremony = {
  action: "webauthn_verify_attestation_response",
  when: "at once",
  waiting: "prompt",
  needs: "creation_options",
  perform: (options, { attempts }) => (attempts.silent ? createSilently(options, attempts) : create(options)),
};

/**
 * State → ceremony. The only place, beside the words, where states are called by name.
 */
export const ceremonies: Record<string, Ceremony> = {
  preflight: {
    action: "register_client_capabilities",
    when: "at once",
    waiting: "outline",
    unasked: true,
    perform: async () => ({ action: "register_client_capabilities", input: await capabilities() }),
  },
  login_init: {
    action: "webauthn_verify_assertion_response",
    when: "beside",
    needs: "request_options",
    perform: (options) => assert(options, true),
  },
  login_passkey: {
    action: "webauthn_verify_assertion_response",
    when: "at once",
    waiting: "prompt",
    needs: "request_options",
    perform: (options) => assert(options, false),
  },
  login_authenticator: {
    action: "authenticator_verify",
    when: "beside",
    needs: "events_href",
    begins: ({ state, attempts }) => mayBring(state.payload.events_href, attempts),
    async perform(href, surroundings, dropped) {
      await waitForAuthenticator(String(href), surroundings, dropped);
      return { action: "authenticator_verify", input: {} };
    },
  },
  onboarding_create_passkey: {
    action: "webauthn_generate_creation_options",
    when: "beside",
    unasked: true,
    begins: ({ state, attempts }) =>
      !attempts.tried &&
      Object.hasOwn(state.actions.webauthn_generate_creation_options?.inputs ?? {}, "conditional"),
    async perform(_, { attempts }) {
      attempts.tried = true;
      attempts.silent = await createsByItself();
      return attempts.silent
        ? { action: "webauthn_generate_creation_options", input: { conditional: true } }
        : null;
    },
  },
  onboarding_verify_passkey_attestation: creation,
  webauthn_credential_verification: creation,
  thirdparty: {
    action: "exchange_token",
    when: "at once",
    waiting: "prompt",
    icon: "forward",
    begins: ({ state, arrival }) =>
      arrival !== null || isText(state.payload.redirect_url) || Object.hasOwn(state.actions, "back"),
    async perform(_, { state, arrival, led, leave }) {
      if (arrival && "token" in arrival) return { action: "exchange_token", input: { token: arrival.token } };
      if (arrival) return { action: "back", input: {}, notice: arrival.error };
      const destination = destinationOf(state, null);
      // Whoever finds their way back here without an answer has turned round.
      if (!led || !destination) return { action: "back", input: {} };
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
 * The ceremony that is to begin in this state, and what it works with. One that was refused does not begin again
 * unasked, or a broken authenticator would prompt for ever.
 */
export function ceremonyToBegin(
  surroundings: CeremonyContext,
  asked: boolean,
): { ceremony: Ceremony; material: unknown } | null {
  const { state } = surroundings;
  const ceremony = ceremonyOf(state);
  if (!ceremony) return null;
  const material = ceremony.needs ? state.payload[ceremony.needs] : null;
  if (material === undefined) return null;
  if (ceremony.when === "at once" && state.error && !asked) return null;
  return (ceremony.begins?.(surroundings) ?? true) ? { ceremony, material } : null;
}

/** Ends a ceremony that is under way; its promise rejects with what `problemOf` calls null. */
export function dropCeremony(): void {
  WebAuthnAbortService.cancelCeremony();
}

/**
 * Milliseconds after which the challenge in a state's payload is worth renewing: shortly before it ends (WebAuthn
 * Level 3, 5.5, `timeout`). Null when there is none.
 */
export function renewalDelay(material: unknown): number | null {
  const { timeout } = publicKeyOf<{ timeout?: unknown }>(material);
  return typeof timeout === "number" && timeout > 0 ? Math.max(timeout * 0.9, 5000) : null;
}

/**
 * What went wrong in a ceremony, as a code there are words for; null when it was dropped by this page itself.
 */
export function problemOf(error: unknown): string | null {
  if (!(error instanceof Error)) return "passkey_failed";
  const { code } = error as Error & { code?: unknown };
  if (code === "ERROR_CEREMONY_ABORTED" || error.name === "AbortError") return null;
  if (code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED" || error.name === "InvalidStateError") {
    return "webauthn_credential_already_exists";
  }
  // Also what browsers answer when the time is up, or nothing fits: they do not tell which.
  return error.name === "NotAllowedError" ? "passkey_cancelled" : "passkey_failed";
}

/** Where this state or answer sends the browser; null when it stays. Only to web addresses, whatever was answered. */
export function destinationOf(state: FlowState, leaving: string | null): URL | null {
  const target = leaving ?? state.payload.redirect_url;
  if (typeof target !== "string" || !URL.canParse(target)) return null;
  const url = new URL(target);
  return url.protocol === "https:" || url.protocol === "http:" ? url : null;
}

async function assert(options: unknown, useBrowserAutofill: boolean): Promise<Step> {
  const assertion = await startAuthentication({ optionsJSON: publicKeyOf(options), useBrowserAutofill });
  return { action: "webauthn_verify_assertion_response", input: { assertion_response: assertion } };
}

async function create(options: unknown, useAutoRegister = false): Promise<Step> {
  const made = await startRegistration({ optionsJSON: publicKeyOf(options), useAutoRegister });
  return { action: "webauthn_verify_attestation_response", input: { public_key: made } };
}

/** Browsers answer at once whether they create a passkey by themselves; one that does not is not waited for. */
const patienceForSilence = 5000;

/** Creates a passkey without asking (WebAuthn Level 3, 5.1.3, conditional mediation), or goes back without a word. */
async function createSilently(options: unknown, attempts: Attempts): Promise<Step> {
  const timer = setTimeout(dropCeremony, patienceForSilence);
  try {
    return await create(options, true);
  } catch {
    return { action: "back", input: {} };
  } finally {
    clearTimeout(timer);
    attempts.silent = false;
  }
}

async function createsByItself(): Promise<boolean> {
  return can(async () => (await getBrowserCapabilities()).conditionalCreate === "supported");
}

async function capabilities(): Promise<Record<string, boolean>> {
  const [available, autofill, platform] = await Promise.all(
    [browserSupportsWebAuthn, browserSupportsWebAuthnAutofill, platformAuthenticatorIsAvailable].map(can),
  );
  return {
    webauthn_available: available === true,
    webauthn_conditional_mediation_available: autofill === true,
    webauthn_platform_authenticator_available: platform === true,
  };
}

/** What a browser cannot even tell, it cannot do. */
async function can(asks: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await asks();
  } catch {
    return false;
  }
}

/** The options inside `request_options` and `creation_options`. What they hold is the browser's to judge. */
function publicKeyOf<Options>(material: unknown): Options {
  const { publicKey } = (material ?? {}) as { publicKey?: Options };
  return publicKey ?? ({} as Options);
}

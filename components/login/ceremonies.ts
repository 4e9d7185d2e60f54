import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  platformAuthenticatorIsAvailable,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from "@simplewebauthn/browser";
import type { FlowState } from "#server/flow/wire";

/** What only a browser can do in a state. */
export interface Ceremony {
  /** The action that carries the result; it is not for people to perform. */
  action: string;
  /**
   * `at once`: the state waits for this, and shows nothing else meanwhile. `beside`: it may happen while the person
   * does something else, and is dropped when they do.
   */
  when: "at once" | "beside";
  /** How the page looks while it waits. */
  waiting?: "outline" | "prompt";
  /** Payload member without which there is nothing to do. */
  needs?: string;
  /** Makes the input of the action. Rejects when the person or the browser will not. */
  perform(material: unknown): Promise<Record<string, unknown>>;
}

/**
 * State → ceremony. The only place, beside the words, where states are called by name.
 */
export const ceremonies: Record<string, Ceremony> = {
  preflight: {
    action: "register_client_capabilities",
    when: "at once",
    waiting: "outline",
    perform: capabilities,
  },
  login_init: {
    action: "webauthn_verify_assertion_response",
    when: "beside",
    needs: "request_options",
    perform: async (options) => ({
      assertion_response: await startAuthentication({
        optionsJSON: publicKeyOf(options),
        useBrowserAutofill: true,
      }),
    }),
  },
  login_passkey: {
    action: "webauthn_verify_assertion_response",
    when: "at once",
    waiting: "prompt",
    needs: "request_options",
    perform: async (options) => ({
      assertion_response: await startAuthentication({ optionsJSON: publicKeyOf(options) }),
    }),
  },
  onboarding_verify_passkey_attestation: {
    action: "webauthn_verify_attestation_response",
    when: "at once",
    waiting: "prompt",
    needs: "creation_options",
    perform: async (options) => ({
      public_key: await startRegistration({ optionsJSON: publicKeyOf(options) }),
    }),
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
  state: FlowState,
  asked: boolean,
): { ceremony: Ceremony; material: unknown } | null {
  const ceremony = ceremonyOf(state);
  if (!ceremony) return null;
  const material = ceremony.needs ? state.payload[ceremony.needs] : null;
  if (material === undefined) return null;
  if (ceremony.when === "at once" && state.error && !asked) return null;
  return { ceremony, material };
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

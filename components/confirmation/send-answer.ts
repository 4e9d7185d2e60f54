import { browserSupportsWebAuthn, startAuthentication } from "@simplewebauthn/browser";
import type { ConfirmationEnd, ConfirmationError } from "#words/confirmation";

/** The `PublicKeyCredentialRequestOptionsJSON` that the server sends. */
export type Options = Parameters<typeof startAuthentication>[0]["optionsJSON"];

/** The address that an answer is posted to, and the token that authorises it. */
export interface Destination {
  address: string;
  token: string;
}

/** How the transaction ended. `redirectTo`: where the browser is redirected, if anywhere. */
export interface End {
  end: ConfirmationEnd;
  redirectTo: string | null;
}

export type Outcome =
  | End
  /**
   * `options`: request options for the next attempt. `signed`: an assertion that may not have arrived and can be
   * sent again.
   */
  | { error: ConfirmationError; options?: Options; signed?: Signed };

export type Signed = Awaited<ReturnType<typeof startAuthentication>>;

/**
 * Asks for a passkey assertion and sends it to the server.
 *
 * @param signed an assertion of an earlier attempt that may not have arrived; it is sent again without a prompt
 */
export async function confirm(
  options: Options,
  destination: Destination,
  signed: Signed | null,
): Promise<Outcome> {
  if (!browserSupportsWebAuthn()) return { error: "unsupported" };
  let credential: Signed;
  try {
    credential = signed ?? (await startAuthentication({ optionsJSON: options }));
  } catch (error) {
    const cancelled = error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
    return { error: cancelled ? "cancelled" : "failed" };
  }
  const outcome = await send(destination, { credential });
  return "error" in outcome && outcome.error !== "refused" ? { ...outcome, signed: credential } : outcome;
}

export function decline(destination: Destination): Promise<Outcome> {
  return send(destination, { declined: true });
}

/** Requests the redirect again for a page that was answered a moment ago. */
export function resume(destination: Destination): Promise<Outcome> {
  return send(destination, { resume: true });
}

/** Error status → how the transaction ended. */
const ends: Partial<Record<number, ConfirmationEnd>> = { 404: "unknown", 409: "answered", 410: "expired" };

async function send({ address, token }: Destination, answer: object): Promise<Outcome> {
  const post = () =>
    fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, ...answer }),
    });
  // The request is idempotent, so it is safe to repeat when only the reply was lost.
  const response = await post()
    .catch(post)
    .catch(() => null);
  if (!response) return { error: "offline" };
  const body = (await response.json().catch(() => ({}))) as {
    answer?: "confirmed" | "declined";
    redirect_to?: string | null;
    publicKey?: Options;
  };
  // The first of several answers counts, and it may differ from this one.
  if (response.ok && body.answer) return { end: body.answer, redirectTo: body.redirect_to ?? null };
  const other = ends[response.status];
  if (other) return { end: other, redirectTo: null };
  if (response.status === 429) return { error: "slow" };
  if (response.status >= 500 || response.ok) return { error: "technical" };
  return { error: "refused", ...(body.publicKey ? { options: body.publicKey } : {}) };
}

import { browserSupportsWebAuthn, startAuthentication } from "@simplewebauthn/browser";
import type { ConfirmationEnd, ConfirmationProblem } from "#words/confirmation";

/** PublicKeyCredentialRequestOptionsJSON, as far as the server sends it. */
export type Options = Parameters<typeof startAuthentication>[0]["optionsJSON"];

/** Where an answer goes, and what proves that it comes from this page. */
export interface Destination {
  address: string;
  token: string;
}

/** `redirectTo`: where the person goes now, if anywhere. */
export interface End {
  end: ConfirmationEnd;
  redirectTo: string | null;
}

export type Outcome =
  | End
  /**
   * `options`: to ask with from now on. `signed`: what the passkey signed, where nobody knows whether it arrived; it is
   * as good once more.
   */
  | { problem: ConfirmationProblem; options?: Options; signed?: Signed };

export type Signed = Awaited<ReturnType<typeof startAuthentication>>;

/**
 * Asks the person for their passkey, and hands what it signed to the server.
 *
 * @param signed before, and perhaps lost on the way: nobody is asked again then
 */
export async function confirm(
  options: Options,
  destination: Destination,
  signed: Signed | null,
): Promise<Outcome> {
  if (!browserSupportsWebAuthn()) return { problem: "unsupported" };
  let credential: Signed;
  try {
    credential = signed ?? (await startAuthentication({ optionsJSON: options }));
  } catch (error) {
    const cancelled = error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
    return { problem: cancelled ? "cancelled" : "failed" };
  }
  const outcome = await send(destination, { credential });
  return "problem" in outcome && outcome.problem !== "refused" ? { ...outcome, signed: credential } : outcome;
}

export function decline(destination: Destination): Promise<Outcome> {
  return send(destination, { declined: true });
}

/** Asks for the way back once more, where the page was answered just now. */
export function resume(destination: Destination): Promise<Outcome> {
  return send(destination, { resume: true });
}

/** What a status means that is no success. */
const ends: Partial<Record<number, ConfirmationEnd>> = { 404: "unknown", 409: "answered", 410: "expired" };

async function send({ address, token }: Destination, answer: object): Promise<Outcome> {
  const post = () =>
    fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, ...answer }),
    });
  // Where only the reply was lost, the same answer leads to the same end.
  const response = await post()
    .catch(post)
    .catch(() => null);
  if (!response) return { problem: "offline" };
  const body = (await response.json().catch(() => ({}))) as {
    answer?: "confirmed" | "declined";
    redirect_to?: string | null;
    publicKey?: Options;
  };
  // Of several answers the first one counts, which may have been another.
  if (response.ok && body.answer) return { end: body.answer, redirectTo: body.redirect_to ?? null };
  const other = ends[response.status];
  if (other) return { end: other, redirectTo: null };
  if (response.status === 429) return { problem: "slow" };
  if (response.status >= 500 || response.ok) return { problem: "technical" };
  return { problem: "refused", ...(body.publicKey ? { options: body.publicKey } : {}) };
}

import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { qrCodeDataUrl } from "../../lib/qr-code.ts";
import { qrCodeText } from "../../lib/qr-text.ts";
import { CommandError } from "../command.ts";
import { escapeControls } from "../escape-controls.ts";
import { NoAnswerError } from "./flow-requests.ts";

/** A sign-in of this terminal as a client of an OpenID provider, by a code that its user enters in a browser (RFC 8628). */

/** What a device is told to do (3.2). */
const codes = z.object({
  device_code: z.string(),
  user_code: z.string().max(64),
  verification_uri: z.url(),
  verification_uri_complete: z.url().optional(),
  expires_in: z.number().positive(),
  interval: z.number().positive().max(60).default(5),
});

const tokens = z.object({
  access_token: z.string(),
  id_token: z.string().optional(),
  refresh_token: z.string().optional(),
});

export type DeviceTokens = z.output<typeof tokens>;

const metadata = z.object({ device_authorization_endpoint: z.url(), token_endpoint: z.url() });

const refusal = z.object({ error: z.string(), error_description: z.string().optional() });

const REQUEST_TIMEOUT_MS = 20_000;

/** Added to the pause when the server says `slow_down` (3.5). */
const SLOWER_SECONDS = 5;

export interface DeviceSignIn {
  /** The address of the server, without a slash at its end. */
  base: string;
  clientId: string;
  scope: string;
  /** Tells the user the address and the code. */
  tell(address: string, code: string): void;
  /** Shows a QR code of the address with the code, as text. */
  show(picture: string): void;
  interrupted: AbortSignal;
}

/**
 * Signs in, and waits for the user to answer in a browser.
 *
 * @throws CommandError if the server has no device flow, or the user denies, or the code expires
 */
export async function signInAsDevice(asked: DeviceSignIn): Promise<DeviceTokens> {
  const { base, clientId, scope, interrupted: signal } = asked;
  const endpoints = await endpointsOf(base);
  const begun = await post(endpoints.device_authorization_endpoint, { client_id: clientId, scope });
  const parsed = codes.safeParse(begun);
  if (!parsed.success) throw refused(base, begun);
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in } = parsed.data;
  asked.tell(escapeControls(verification_uri), escapeControls(user_code));
  const picture = qrCodeText(await qrCodeDataUrl(verification_uri_complete ?? verification_uri));
  if (picture) asked.show(picture);

  const end = Date.now() + expires_in * 1_000;
  let { interval } = parsed.data;
  while (Date.now() < end) {
    await setTimeout(interval * 1_000, undefined, { signal }).catch(() => {});
    if (signal.aborted) throw new CommandError("interrupted");
    const answer = await post(endpoints.token_endpoint, {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id: clientId,
      device_code,
    }).catch((error: unknown) => {
      // The connection may come back while the user is still in the browser.
      if (error instanceof NoAnswerError) return { error: "authorization_pending" };
      throw error;
    });
    const issued = tokens.safeParse(answer);
    if (issued.success) return issued.data;
    const { error } = refusal.catch({ error: "" }).parse(answer);
    if (error === "slow_down") interval += SLOWER_SECONDS;
    else if (error !== "authorization_pending") throw refused(base, answer);
  }
  throw new CommandError("the code has expired");
}

async function endpointsOf(base: string): Promise<z.output<typeof metadata>> {
  const found = await answerOf(() => fetch(`${base}/.well-known/openid-configuration`, options()), base);
  const parsed = metadata.safeParse(found);
  if (!parsed.success) throw new CommandError(`${base} signs in no devices: is openid.device_flow on there?`);
  return parsed.data;
}

const post = (address: string, form: Record<string, string>): Promise<unknown> =>
  answerOf(
    () => fetch(address, { ...options(), method: "POST", body: new URLSearchParams(form) }),
    new URL(address).origin,
  );

const options = () => ({ redirect: "error" as const, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });

/** @throws NoAnswerError without an answer */
async function answerOf(request: () => Promise<Response>, server: string): Promise<unknown> {
  const response = await request().catch((error: unknown) => {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    throw new NoAnswerError(`${server} does not answer: ${cause?.code || cause?.message || message}`);
  });
  return response.json().catch(() => null);
}

/** What the server says is wrong, in one line. */
function refused(base: string, answer: unknown): CommandError {
  const { error, error_description } = refusal.catch({ error: "no known answer" }).parse(answer);
  const why = error_description ? `${error}: ${error_description}` : error;
  return new CommandError(escapeControls(`${base} refuses the sign-in: ${why}`));
}

import { createHash, timingSafeEqual } from "node:crypto";
import { parseJson } from "../../lib/strict-json.ts";
import { decodePaddedBase64url } from "./base64url.ts";
import { finalChallengeParams } from "./messages.ts";
import { rejectUaf, type UafRefusal } from "./rejections.ts";

/** What a client has to have put together for an authenticator to sign. */
export interface ExpectedChallenge {
  /** Empty when the request named no application: then the facet stands for it. */
  appId: string;
  /** base64url; taken before. */
  challenge: string;
  /** Facets that are trusted. */
  facets: readonly string[];
}

/** What authenticators sign of it: SHA-256 of the text itself, as it was received, not of what it says. */
export const finalChallengeHash = (fcParams: string): Buffer => sha256(fcParams);

/**
 * Judges the final challenge parameters, UAF Protocol Specification 1.1, sections 3.4.6.5 and 3.5.7.5.
 *
 * @param fcParams base64url of JSON; padded by some clients
 * @returns what is wrong with them, if anything is
 */
export function judgeFinalChallenge(fcParams: string, expected: ExpectedChallenge): UafRefusal | null {
  // Ensure it can be read.
  const bytes = decodePaddedBase64url(fcParams);
  const read = finalChallengeParams.safeParse(bytes && parseJson(textOf(bytes)));
  if (!read.success) return rejectUaf("final_challenge_malformed");
  const { appID, challenge, facetID, channelBinding } = read.data;

  // Ensure it is the challenge that was sent.
  if (!isSame(challenge, expected.challenge)) return rejectUaf("challenge_mismatch");

  // Ensure it is for this application; where none was named, the facet stands for it.
  if (appID !== (expected.appId || facetID)) return rejectUaf("final_challenge_app_id_mismatch");

  // Ensure the program that asked is one of the application's.
  if (!expected.facets.includes(facetID)) return rejectUaf("facet_not_trusted");

  // Ensure it is not bound to a channel: which one it came through, only who ends TLS knows.
  if (Object.values(channelBinding ?? {}).some(isFilled)) return rejectUaf("channel_binding_refused");

  return null;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

const isFilled = (binding: unknown) => binding !== undefined && binding !== null && binding !== "";

/** Compares in constant time, whatever the lengths. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}

/** What is no UTF-8 becomes what is no JSON. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

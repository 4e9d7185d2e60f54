import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { decodePaddedBase64url } from "../../lib/base64url.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import { sha256 } from "../../lib/sha256.ts";
import { parseJson } from "../../lib/strict-json.ts";
import { type ChannelBindingPolicy, verifyChannelBinding } from "./channel-binding.ts";
import { finalChallengeParams } from "./messages.ts";

/** Expected values of the final challenge parameters, whose hash the authenticator signs. */
export interface ExpectedChallenge {
  /** Empty if the request named no application; the facet then takes its place. */
  appId: string;
  /** base64url. The caller has consumed it, so that it verifies one response. */
  challenge: string;
  /** Trusted facets. */
  facets: readonly string[];
  /** Absent: channel bindings are refused. */
  channelBinding?: ChannelBindingPolicy;
}

/** The final challenge hash: SHA-256 of the received text, not of the decoded JSON. */
export const finalChallengeHash = (fcParams: string): Buffer => sha256(fcParams);

/**
 * Verifies the final challenge parameters (UAF Protocol Specification 1.1, sections 3.4.6.5 and 3.5.7.5).
 *
 * @param fcParams base64url of JSON; some clients pad it
 * @returns null if they are valid
 */
export function verifyFinalChallenge(fcParams: string, expected: ExpectedChallenge): UafRejection | null {
  // Ensure it is valid JSON with all members.
  const bytes = decodePaddedBase64url(fcParams);
  const read = finalChallengeParams.safeParse(bytes && parseJson(textOf(bytes)));
  if (!read.success) return rejectUaf("final_challenge_malformed");
  const { appID, challenge, facetID, channelBinding } = read.data;

  // Ensure it has the challenge of the request.
  if (!constantTimeEqual(challenge, expected.challenge)) return rejectUaf("challenge_mismatch");

  // Ensure it is for this application, or for the facet if the request named no application.
  if (appID !== (expected.appId || facetID)) return rejectUaf("final_challenge_app_id_mismatch");

  // Ensure the facet is one of the application's trusted facets.
  if (!expected.facets.includes(facetID)) return rejectUaf("facet_not_trusted");

  // Ensure the channel binding is as expected.
  const rejection = verifyChannelBinding(
    channelBinding ?? {},
    expected.channelBinding ?? { mode: "refuse", certificates: [] },
  );
  return rejection && rejectUaf(rejection);
}

/** Decodes UTF-8; returns an empty string, which is not JSON, for anything else. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

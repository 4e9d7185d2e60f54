import type { z } from "zod";
import { type Operation, readMessage, type UafResponse } from "./messages.ts";
import { rejectUaf, type UafRefusal } from "./rejections.ts";
import { type ExpectedChallenge, finalChallengeHash, judgeFinalChallenge } from "./verify-final-challenge.ts";
import { isOffered } from "./versions.ts";

export interface ExpectedResponse extends ExpectedChallenge {
  /** What the request carried for the client to send back; nothing unless it is named. */
  serverData?: string;
}

/**
 * Judges what every answer has, whatever is asserted in it: UAF Protocol Specification 1.1, sections 3.4.6.5 and
 * 3.5.7.5, up to the assertions.
 *
 * @param answer what the client sent
 * @param form of the message that it has to be
 */
export function judgeResponse<Message extends UafResponse>(
  answer: string,
  operation: Operation,
  form: z.ZodType<Message>,
  expected: ExpectedResponse,
): { ok: true; message: Message; finalChallengeHash: Buffer } | UafRefusal {
  // Ensure it is one message, with all that it has to have (step 1).
  const message = readMessage(answer, form);
  if (!message) return rejectUaf("message_malformed");
  const { header, fcParams } = message;

  // Ensure it answers this operation (step 1).
  if (header.op !== operation) return rejectUaf("operation_mismatch");

  // Ensure it is of a version that was offered (step 1).
  if (!isOffered(header.upv)) return rejectUaf("version_not_offered");

  // Ensure it is for this application (step 2).
  if ((header.appID ?? "") !== expected.appId) return rejectUaf("app_id_mismatch");

  // Ensure that what was given to keep came back as it was (step 2).
  if (expected.serverData !== undefined && header.serverData !== expected.serverData)
    return rejectUaf("server_data_mismatch");

  // Ensure nothing in it has to be understood that is not: no extension is known.
  const extended = [header, ...message.assertions].flatMap(({ exts }) => exts ?? []);
  if (extended.some((extension) => extension.fail_if_unknown)) return rejectUaf("extension_unknown");

  // Ensure challenge, application, facet and channel are what they must be (step 3).
  const wrong = judgeFinalChallenge(fcParams, expected);
  if (wrong) return wrong;

  return { ok: true, message, finalChallengeHash: finalChallengeHash(fcParams) };
}

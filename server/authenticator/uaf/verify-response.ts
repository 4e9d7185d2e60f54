import type { z } from "zod";
import { rejectUaf, type UafRejection } from "../../failures/uaf.ts";
import { type Operation, readMessage, type UafResponse } from "./messages.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import {
  type ExpectedChallenge,
  finalChallengeHash,
  verifyFinalChallenge,
} from "./verify-final-challenge.ts";
import { isSupportedVersion } from "./versions.ts";

export interface ExpectedResponse extends ExpectedChallenge {
  /** The data that the client must return unchanged. Absent: not verified. */
  serverData?: string;
  /** Accepted models. */
  accepted: readonly AuthenticatorMetadata[];
  /**
   * Whether to reject known deviations of published clients: ids of new keys shorter than 32 bytes, padding, signatures
   * that are not valid DER.
   */
  strict: boolean;
}

/**
 * Verifies everything in a response but its assertions (UAF Protocol Specification 1.1, sections 3.4.6.5 and 3.5.7.5,
 * steps 1 to 3).
 *
 * @param uafResponse as sent by the client
 * @param schema of the expected message
 */
export function verifyUafResponse<Message extends UafResponse>(
  uafResponse: string,
  operation: Operation,
  schema: z.ZodType<Message>,
  expected: ExpectedResponse,
): { ok: true; message: Message; finalChallengeHash: Buffer } | UafRejection {
  // Ensure it is one message with all mandatory members (step 1).
  const read = readMessage(uafResponse, schema);
  if (!read.ok) return rejectUaf("message_malformed");
  const { message } = read;
  const { header, fcParams } = message;

  // Ensure it is for the requested operation (step 1).
  if (header.op !== operation) return rejectUaf("operation_mismatch");

  // Ensure its protocol version is supported (step 1).
  if (!isSupportedVersion(header.upv)) return rejectUaf("version_not_offered");

  // Ensure it is for this application (step 2).
  if ((header.appID ?? "") !== expected.appId) return rejectUaf("app_id_mismatch");

  // Ensure the server data are unchanged (step 2).
  if (expected.serverData !== undefined && header.serverData !== expected.serverData)
    return rejectUaf("server_data_mismatch");

  // Ensure no extension demands to be understood: none is supported.
  const extended = [header, ...message.assertions].flatMap(({ exts }) => exts ?? []);
  if (extended.some((extension) => extension.fail_if_unknown)) return rejectUaf("extension_unknown");

  // Ensure challenge, application, facet and channel binding are as expected (step 3).
  const rejection = verifyFinalChallenge(fcParams, expected);
  if (rejection) return rejection;

  return { ok: true, message, finalChallengeHash: finalChallengeHash(fcParams) };
}

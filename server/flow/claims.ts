import type { Runtime } from "../runtime.ts";
import { type Answer, expired, notPermitted } from "./answer.ts";
import { claimFailureReason, type FlowKey, releaseFlow } from "./store.ts";
import { UnreadableFlowError } from "./stored-data/unreadable-flow-error.ts";

/** Ends the claim of a step that has written nothing. */
export async function releaseClaim(runtime: Runtime, key: FlowKey, claimId: string): Promise<void> {
  try {
    await releaseFlow(runtime.database, key, claimId);
  } catch (error) {
    // The claim expires by itself; do not hide the original error.
    runtime.log.warn({ err: error }, "A claim could not be released.");
  }
}

/**
 * Answers a step that did not obtain the claim: the flow has ended, or another step holds it.
 *
 * @returns `isKnown`: whether there is such a flow
 */
export async function answerToFailedClaim(
  runtime: Runtime,
  key: FlowKey,
): Promise<{ answer: Answer; isKnown: boolean }> {
  const reason = await claimFailureReason(runtime.database, key, runtime.platform.clockShift());
  return { answer: reason === "expired" ? expired() : notPermitted(), isKnown: reason !== "unknown" };
}

/**
 * Answers a request on a flow that no version can read as if the flow had expired, and logs it: the user starts again.
 *
 * @throws any other error; also for a flow of a later version, which may answer the next attempt
 */
export function answerToUnreadable({ log }: Pick<Runtime, "log">, error: unknown): Answer {
  if (!(error instanceof UnreadableFlowError) || error.isNewer) throw error;
  log.error({ err: error }, "a stored flow cannot be read; it counts as expired");
  return expired();
}

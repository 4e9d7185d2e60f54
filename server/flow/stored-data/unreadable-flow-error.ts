import { recognizeEveryCopy } from "../../lib/every-copy.ts";
import type { UnreadableFlow } from "./stored-flow-data.ts";

/** A stored flow that this version cannot read, and leaves as it is. */
export class UnreadableFlowError extends Error {
  static {
    recognizeEveryCopy(UnreadableFlowError, "UnreadableFlowError");
  }
  /** Whether a later version has stored it, which may answer the next attempt; otherwise no version can go on with it. */
  readonly isNewer: boolean;

  constructor(flowId: string, unreadable: UnreadableFlow) {
    super(
      unreadable.reason === "newer"
        ? `flow ${flowId} is stored in format ${unreadable.format}, which a later version writes`
        : `flow ${flowId} cannot be read: ${unreadable.detail}`,
    );
    this.isNewer = unreadable.reason === "newer";
  }
}

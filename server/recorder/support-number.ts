import { sha256 } from "../lib/sha256.ts";
import { SUPPORT_NUMBER_LENGTH, supportLetters } from "./written-support-number.ts";

/**
 * Returns the number by which a user tells an operator of a flow: eight letters. It is a digest of the flow's id, so nothing
 * of the flow can be derived from it, and two flows among some thousand millions may share one.
 */
export function supportNumber(flowId: string): string {
  const digest = sha256(`support number of ${flowId}`).toString("hex").slice(0, SUPPORT_NUMBER_LENGTH);
  return [...digest].map((digit) => supportLetters[Number.parseInt(digit, 16)]).join("");
}

import type { Cli } from "./command.ts";

/** Ends the line of a terminal after what stands in it, and goes back to its beginning (ECMA-48, EL). */
const CLEAR_LINE = "\r\u001b[K";

/**
 * Shows what a command does in one line of the terminal, which each step replaces. Shows nothing elsewhere.
 *
 * @returns shows a step; null clears the line
 */
export function progressLine({ prompt, showsProgress }: Pick<Cli, "prompt" | "showsProgress">) {
  return (step: string | null): void => {
    if (showsProgress) prompt(`${CLEAR_LINE}${step ?? ""}`);
  };
}

import { type Action, action, type NoInput, type View } from "../define.ts";
import { NEXT } from "../names.ts";
import { go } from "../outcome.ts";

/** Skips a state of the plan, if `when` allows it. */
export function skip(when: (view: View) => boolean): Action<NoInput> {
  return action({
    description: "Skip this step.",
    when,
    to: [NEXT],
    run: () => go(NEXT),
  });
}

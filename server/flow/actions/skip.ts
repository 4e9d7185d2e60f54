import { type Action, action, type NoInput, type View } from "../define.ts";
import { NEXT } from "../names.ts";
import { go } from "../outcome.ts";

/** Passes over a state of the plan, where `when` allows it. */
export function skip(when: (view: View) => boolean): Action<NoInput> {
  return action({
    description: "Skip this step.",
    when,
    to: [NEXT],
    run: () => go(NEXT),
  });
}

import { circumstance } from "../../conditions/condition.ts";
import { action, type View } from "../define.ts";
import { BACK } from "../names.ts";
import { goBack } from "../outcome.ts";

const hasPrevious = circumstance<View>("previous", ({ previous }) => previous !== null, {
  holds: "there is a state to go back to",
  fails: "there is no state to go back to",
});

/** Returns to the previous state, if there is one. */
export const back = action({
  impersonated: true,
  description: "Go back to the previous step.",
  when: hasPrevious,
  to: [BACK],
  run: () => goBack(),
});

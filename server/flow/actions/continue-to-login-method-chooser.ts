import { circumstance } from "../../conditions/condition.ts";
import { action, type View } from "../define.ts";
import { BACK } from "../names.ts";
import { goBack } from "../outcome.ts";

/**
 * Shows the other methods, where a mark of the browser led past the choice. Unknown to published clients, whose `back`
 * leads to the same state.
 */
export const continueToLoginMethodChooser = action({
  description: "Choose another way to sign in than the one that this browser used last.",
  flows: ["login"],
  when: circumstance<View>(
    "last_method",
    ({ data, previous }) => data.lastMethod !== undefined && previous === "login_method_chooser",
    {
      holds: "the method that this browser used last was taken in place of a choice",
      fails: "the method was not taken from what this browser used last",
    },
  ),
  to: [BACK],
  run: () => goBack(),
});

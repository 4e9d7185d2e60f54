import { action } from "../define.ts";
import { BACK } from "../names.ts";
import { goBack } from "../outcome.ts";

/** Returns to the previous state, if there is one. */
export const back = action({
  description: "Go back to the previous step.",
  when: ({ previous }) => previous !== null,
  to: [BACK],
  run: () => goBack(),
});
